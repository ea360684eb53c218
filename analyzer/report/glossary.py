"""The words of the report, each explained in a sentence or two."""

from __future__ import annotations

from analyzer.model import Report
from analyzer.report import words


def glossary(report: Report) -> list[tuple[str, str]]:
    """Terms with their meaning for this report, in the order in which a reader needs them."""
    target, references = report.target.arch, words.listed(report.references, "or")
    return [
        ("target", f"The architecture in question: {target}."),
        ("reference", f"An architecture that {target} is compared with: {references}."),
        (
            "gate",
            "One place in the code at which the architecture decides what happens: a condition, a check, a "
            "list of architectures, a preprocessor line, the images in a library.",
        ),
        ("guard", "A gate in CUDA code: a preprocessor line such as #if __CUDA_ARCH__ >= 900."),
        ("finding", f"A gate by which {target} loses something that {references} has."),
        (
            "way",
            "From an entry (an option, an API, a variable) through calls and gates to what it runs: a build, "
            "a library, its kernels.",
        ),
        (
            "barrier",
            f"A gate that stops {target} on a way. Those behind the first one count once the ones before "
            "them are open.",
        ),
        (
            "build",
            "Code that is compiled when it is first used, or ahead of time; it names its architectures.",
        ),
        ("predicate", "A name whose value the architecture alone decides; gates use it."),
        (
            "back_end",
            "One of the implementations that an API offers; auto leaves the choice to the library.",
        ),
        ("free", "Decided by something else than the architecture: an option, a size, a data type."),
        ("silent", f"Nothing is raised, logged or warned on the way of {target}."),
        (
            "liftable",
            f"All code behind the gate that {references} runs was followed, and {target} can run it: to open "
            "the gate is worth a try. That it computes the right result, or fast, was not tried.",
        ),
        ("hardware", f"What lies behind the gate needs an instruction or a resource that {target} lacks."),
        (
            "unknown",
            "Not followed to the end, or not decided; the reason stands beside it. Never counted as fine.",
        ),
        ("what_if", "Take gates as open, in this page, and see which ways and cells change."),
    ]
