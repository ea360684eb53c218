"""Plain words for what a gate does to the target: one sentence, and the terms that all views share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzer import archs
from analyzer.judge.comments import QUOTES
from analyzer.model import Effect, Gate, Justification, Layer, Loss, Path, Report, Step, When
from analyzer.report.source import one_line


class Code(str):
    """A piece of a sentence that is code; each view sets it off in its own way."""

    __slots__ = ()


#: A sentence in pieces: plain text and code.
Phrase = tuple[str, ...]

EFFECTS: dict[Effect, str] = {
    "raises": "raises",
    "excluded": "excluded",
    "degraded": "degraded",
    "empty_kernel": "empty kernel",
    "lost_sync": "lost sync",
    "illegal_instruction": "illegal instruction",
    "over_resource": "over resource",
    "no_image": "no image",
    "wrongly_admitted": "wrongly admitted",
    "none": "none",
}

MEANING: dict[Effect, str] = {
    "raises": "The target runs into an error: an exception, a failed check, a trap or a refused compilation.",
    "excluded": "The gated code is unreachable on the target and nothing takes its place.",
    "degraded": "Other code takes the place of the gated code on the target.",
    "empty_kernel": "The work of a kernel is compiled out on the target: launching it does nothing.",
    "lost_sync": "A synchronisation intrinsic is compiled out of a kernel that still runs on the target.",
    "illegal_instruction": "The target is admitted to an instruction that does not assemble for it.",
    "over_resource": "The code asks for more of a resource than the target has.",
    "no_image": "A binary carries no code that the target can run.",
    "wrongly_admitted": "The target passes here; a later gate on the same way stops or damages it.",
    "none": "The target is treated as the references are, or better.",
}

LAYERS: dict[Layer, str] = {
    "runtime": "Python condition",
    "api": "decorator or backend table",
    "jit": "architecture list of a build",
    "guard": "preprocessor directive",
    "host": "C++ check on the host side",
    "isa": "instruction",
    "resource": "resource demand",
    "binary": "images in a binary",
    "env": "environment variable or architecture list",
}

WHEN: dict[When, str] = {
    "always": "always",
    "default": "only for the automatic choice",
    "ahead_of_time": "only for prebuilt packages",
}

_LOST: dict[str, str] = {
    "wait": "it may read what the kernel before it is still writing",
    "barrier": "its threads no longer wait for each other",
    "fence": "others may see its writes out of order",
    "trigger": "the next kernel starts later, only overlap is lost",
}


def plain(phrase: Phrase) -> str:
    """The sentence as text, code between backticks."""
    return "".join(f"`{piece}`" if isinstance(piece, Code) else piece for piece in phrase)


def listed(names: Sequence[str], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 gate``, ``2 gates``, ``1,200 gates``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def products(arch: str) -> tuple[str, ...]:
    """Product names of an architecture; empty for one that this program does not know."""
    try:
        return archs.find(arch).products
    except ValueError:
        return ()


def where(gate: Gate) -> Phrase:
    """The scope of a gate, or its file for code outside any function."""
    return (Code(one_line(gate.scope or gate.file.rpartition("/")[2], 80)),)


def losses(gate: Gate) -> Phrase:
    """The names of what is lost, each once, at most three."""
    names = list(dict.fromkeys(loss.what for loss in gate.loses))
    pieces: list[str] = []
    for index, name in enumerate(names[:3]):
        pieces += [", " if index else "", Code(one_line(name, 60))]
    if len(names) > 3:
        pieces.append(f" and {len(names) - 3} more")
    return tuple(piece for piece in pieces if piece)


def lost_kind(losses: Sequence[Loss]) -> str:
    """The gravest kind among these losses: a wait, a barrier or a fence before a trigger."""
    kinds = {loss.kind for loss in losses}
    return next((kind for kind in _LOST if kind in kinds), "")


def sentence(gate: Gate, target: str) -> Phrase:
    """What the target loses at this gate and where, in one plain sentence."""
    return _SENTENCES[gate.effect](gate, target)


def _raises(gate: Gate, target: str) -> Phrase:
    if gate.message:
        what = "is let in and stopped in" if gate.verdict.get(target) == "admit" else "is refused in"
        return (f"{target} {what} ", *where(gate), ": “", one_line(gate.message, 200), "”")
    return (f"{target} runs into an error in ", *where(gate), ".")


def _admitted(gate: Gate) -> Phrase:
    return (
        (Code(one_line(gate.admits, 80)),)
        if gate.admits
        else ("the code behind ", Code(one_line(gate.code, 80)))
    )


def _told(gate: Gate) -> str:
    return ", and nothing says so." if gate.silent else "; a message says so."


def _excluded(gate: Gate, target: str) -> Phrase:
    return (
        f"{target} never gets ",
        *_admitted(gate),
        " in ",
        *where(gate),
        ", nor anything in its place",
        _told(gate),
    )


def _degraded(gate: Gate, target: str) -> Phrase:
    instead = (Code(one_line(gate.falls_back_to, 80)),) if gate.falls_back_to else ("other code",)
    return (f"{target} gets ", *instead, " instead of ", *_admitted(gate), " in ", *where(gate), _told(gate))


def _empty_kernel(gate: Gate, target: str) -> Phrase:
    return (*where(gate), f" is an empty kernel on {target}: launching it does nothing and writes no result.")


def _lost_sync(gate: Gate, target: str) -> Phrase:
    consequence = _LOST.get(lost_kind(gate.loses))
    what = losses(gate) or ("a synchronisation",)
    return (*where(gate), f" runs on {target} without ", *what, f": {consequence}." if consequence else ".")


def _illegal(gate: Gate, target: str) -> Phrase:
    what = losses(gate) or ("an instruction",)
    return (f"{target} is let into ", *where(gate), ", but ", *what, " does not assemble for it.")


def _over_resource(gate: Gate, target: str) -> Phrase:
    what = losses(gate) or ("a resource",)
    return (*where(gate), " asks for more of ", *what, f" than {target} has.")


def _no_image(gate: Gate, target: str) -> Phrase:
    return (Code(one_line(gate.file, 100)), f" carries no code that {target} can run.")


def _wrongly_admitted(gate: Gate, target: str) -> Phrase:
    if gate.layer == "env":
        led = f" is on by default, whatever the device, and leads {target} to a library without code for it."
        return (Code(one_line(gate.code, 100)), led)
    kept = [arch for arch, verdict in gate.verdict.items() if verdict == "reject"]
    if kept and archs.earlier(kept, target) == kept:
        kin = f"{listed(kept)}, whose code it runs"
        return (f"{target} passes ", *where(gate), f" here, and {kin}, does not.")
    evidence = gate.justification.evidence if gate.justification is not None else ()
    read = next((step for step in evidence if not step.what.startswith(QUOTES)), None)
    later = Code(_at(read)) if read is not None else "a later gate"
    return (f"{target} passes ", *where(gate), " here, and ", later, " on the same way stops or damages it.")


def _no_effect(gate: Gate, target: str) -> Phrase:
    if gate.verdict.get(target) == "unknown":
        return ("What ", *where(gate), f" does on {target} could not be decided.")
    if gate.specialised:
        return (f"{target} has a branch of its own in ", *where(gate), ".")
    if gate.verdict.get(target) == "reject":
        passing = [arch for arch, verdict in gate.verdict.items() if verdict == "admit"]
        others = (
            f"only {listed(passing)} {'passes' if len(passing) == 1 else 'pass'}"
            if passing
            else "no one passes"
        )
        return (f"{target} does not pass in ", *where(gate), f", and loses nothing by it: {others}.")
    return (f"{target} is treated in ", *where(gate), " as the references are, or better.")


_SENTENCES = {
    "raises": _raises,
    "excluded": _excluded,
    "degraded": _degraded,
    "empty_kernel": _empty_kernel,
    "lost_sync": _lost_sync,
    "illegal_instruction": _illegal,
    "over_resource": _over_resource,
    "no_image": _no_image,
    "wrongly_admitted": _wrongly_admitted,
    "none": _no_effect,
}


def headline(report: Report) -> str:
    """The whole report in one sentence: how many findings, how grave."""
    target = report.target.arch
    total = len(report.findings)
    if not total:
        return f"Nothing found that {target} loses against {listed(report.references)}."
    errors = sum(g.severity == "error" for g in report.findings)
    silent = sum(g.silent for g in report.findings)
    grave = f"{errors:,} of them stop or break it" if errors != 1 else "1 of them stops or breaks it"
    quiet = f"{silent:,} give no sign of it" if silent != 1 else "1 gives no sign of it"
    return f"{target} loses something at {counted(total, 'place')}: {grave}, {quiet}."


_TODAY: dict[Effect, str] = {
    "raises": "stops with an error",
    "excluded": "does without it",
    "degraded": "gets other code",
    "empty_kernel": "launches a kernel that does nothing",
    "lost_sync": "runs without a synchronisation",
    "illegal_instruction": "meets an instruction that does not assemble",
    "over_resource": "asks for more than it has",
    "no_image": "finds no code that it can run",
    "wrongly_admitted": "is let in, to be stopped or damaged later",
    "none": "passes",
}


def met(gate: Gate) -> str:
    """What the target meets at a gate, in a few words, without saying where."""
    quiet = "" if gate.effect in ("raises", "none") else ", silently" if gate.silent else ", and is told so"
    return f"{_TODAY[gate.effect]}{quiet}"


def path_outcome(path: Path, target: str, gates: Mapping[str, Gate]) -> str:
    """What becomes of a way in today, and what would stop it with that open, in a few words."""
    if not path.barriers:
        return f"no gate stops {target} on this way"
    firm = [b for b in path.barriers if b.when == "always" and b.gate in gates]
    if not firm:
        return f"open today; closed {listed(list(dict.fromkeys(WHEN[b.when] for b in path.barriers)), 'or')}"
    first, *later = (gates[barrier.gate] for barrier in firm)
    text = f"today {target} {met(first)} ({_at(first)})"
    if not later:
        return text
    last = f"it {met(later[-1])} ({_at(later[-1])})"
    if len(later) == 1:
        return f"{text}; with that open {last}"
    return f"{text}; with that open, {len(later):,} more gates: at the last {last}"


def _at(place: Gate | Step) -> str:
    return f"{one_line(place.file.rpartition('/')[2])}:{place.line}"


def followed(justification: Justification) -> str:
    """What stands behind a justification, in a few words: its kind, and the evidence that says most."""
    steps = [step.what for step in justification.evidence]
    steps.sort(key=lambda what: what.startswith(QUOTES))  # what was followed says more than what is claimed
    evidence = [one_line(what, 120).replace("`", "") for what in steps]
    if not evidence:
        return justification.kind
    read = [what for what in evidence if not what.startswith(QUOTES)] or evidence
    told = evidence[0] if justification.kind != "liftable" else read[-1]
    more = f", and {len(evidence) - 1} more" if len(evidence) > 1 and told == evidence[0] else ""
    return f"{justification.kind}: {told}{more}"
