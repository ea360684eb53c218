"""The gates that sets of images are: which code of a library no image runs on the target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from analyzer import archs
from analyzer.binary import images, library
from analyzer.binary.errors import DamagedError
from analyzer.binary.fatbin import Image
from analyzer.binary.library import Library, Unit
from analyzer.binary.symbols import readable
from analyzer.identity import identity
from analyzer.model import Effect, FileFacts, Gate, Loss, Skipped, Step, Unresolved, Verdict
from analyzer.tree.files import Tree

#: Files of machine code alone, which a program picks by name.
_BARE = ".cubin"
#: What the CUDA runtime says when no image fits. Source: ``cudaErrorNoKernelImageForDevice``.
MESSAGE = "no kernel image is available for execution on the device"


@dataclass(frozen=True, slots=True)
class BinaryGates:
    """What the libraries of a tree that hold device code say.

    ``lost``: libraries of whose device code the target can run nothing, with their gates; ``skipped``: those
    that could not be read; ``read``: those with device code, how many units they have and how many gates.
    """

    libraries: tuple[Library, ...] = ()
    gates: tuple[Gate, ...] = ()
    lost: tuple[tuple[Library, tuple[Gate, ...]], ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    read: tuple[FileFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """The scan's question, with the way to kernel names."""

    target: str
    references: tuple[str, ...]
    archs: tuple[str, ...]
    names: Callable[[str, list[Image]], list[tuple[str, ...] | None]]


def analyse(
    tree: Tree,
    target: str,
    references: Sequence[str],
    names: Sequence[str],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BinaryGates:
    """Read every library of a tree and judge the images in it."""
    files = tree.of("binary")
    skipped: list[Skipped] = []
    libraries: list[Library] = []
    for done, file in enumerate(files):
        progress(done, len(files))
        try:
            found = library.read(tree.root, file.path)
        except DamagedError as error:
            skipped.append(Skipped(file.path, str(error)))
            continue
        if found.units:
            libraries.append(found)
    progress(len(files), len(files))
    question = Question(
        target,
        tuple(references),
        tuple(names),
        lambda path, wanted: library.kernels(tree.root, path, wanted),
    )
    return judge(libraries, question, skipped)


def judge(libraries: Iterable[Library], question: Question, skipped: Iterable[Skipped] = ()) -> BinaryGates:
    """The gates of libraries that were read."""
    libraries = tuple(libraries)
    gates: list[Gate] = []
    lost: list[tuple[Library, tuple[Gate, ...]]] = []
    unresolved: list[Unresolved] = []
    read: list[FileFacts] = []
    bare = [found for found in libraries if found.path.endswith(_BARE)]
    for found in libraries:
        if found.path.endswith(_BARE):
            continue
        groups = _groups(found)
        own = [gate for group in groups if (gate := _gate(found, group, question, unresolved)) is not None]
        read.append(FileFacts(found.path, len(found.units), len(own)))
        gates += own
        lacking = tuple(gate for gate in own if gate.effect == "no_image")
        if lacking and not any(_verdict(unit, question.target) == "admit" for unit in found.units):
            lost.append((found, lacking))
        elif lacking:
            unresolved.append(
                Unresolved(
                    found.path,
                    1,
                    f"operators of {found.path.rpartition('/')[2]}",
                    "some of its kernels have no image for the target; whose they are is not told",
                )
            )
    for alike in _alike(bare):
        merged = _merged(alike, question, unresolved)
        gates += merged
        read += [FileFacts(found.path, 1, len(merged) if found is alike[0] else 0) for found in alike]
    return BinaryGates(libraries, tuple(gates), tuple(lost), tuple(skipped), tuple(unresolved), tuple(read))


def _alike(bare: Iterable[Library]) -> list[list[Library]]:
    """Files of bare machine code that lie in one folder and are for the same GPUs."""
    groups: dict[tuple[str, tuple[str, ...]], list[Library]] = defaultdict(list)
    for found in bare:
        made = images.names(image for unit in found.units for image in unit.images)
        groups[found.path.rpartition("/")[0], made].append(found)
    return [sorted(groups[key], key=lambda found: found.path) for key in sorted(groups)]


def _merged(alike: list[Library], question: Question, unresolved: list[Unresolved]) -> list[Gate]:
    """The one gate of such files, at the first of them: packages hold them by the thousand."""
    own = [_gate(found, list(found.units), question, unresolved) for found in alike]
    gates = [gate for gate in own if gate is not None]
    if not gates:
        return []
    first = gates[0]
    losses = tuple(sorted({loss for gate in gates for loss in gate.loses}))
    steps = first.because
    if len(gates) > 1:
        folder = first.file.rpartition("/")[0] or "."
        more = f"and {len(gates) - 1} more files in {folder} for {first.code} alone"
        steps = (*steps, Step(gates[-1].file, 1, more))
    return [msgspec.structs.replace(first, count=len(gates), loses=losses, because=steps)]


def unmet(gate: Gate) -> Gate:
    """The gate of a library that the target does not load: what it lacks is not asked for."""
    return msgspec.structs.replace(gate, effect="none", loses=(), message=None)


def _groups(found: Library) -> list[list[Unit]]:
    """The units of a library by what their images are made for."""
    groups: dict[tuple[str, ...], list[Unit]] = defaultdict(list)
    for unit in found.units:
        groups[images.names(unit.images)].append(unit)
    return [groups[made] for made in sorted(groups)]


def _verdict(unit: Unit, arch: str) -> Verdict:
    """Whether an architecture can run one of a unit's images."""
    profile = archs.find(arch)
    return "admit" if any(images.runs_on(image, profile) for image in unit.images) else "reject"


def _gate(found: Library, group: list[Unit], question: Question, unresolved: list[Unresolved]) -> Gate | None:
    """The gate of the units with one set of images; none where they fare the same everywhere."""
    first = group[0]
    verdict = {arch: _verdict(first, arch) for arch in question.archs}
    if len(set(verdict.values())) == 1:
        return None
    made = images.names(first.images)
    code = ", ".join(made)
    serving = [arch for arch in question.references if verdict[arch] == "admit"]
    rejected = verdict[question.target] == "reject" and bool(serving)
    effect: Effect = "no_image" if rejected else "none"
    losses: tuple[Loss, ...] = ()
    if rejected:
        losses = _losses(found, group, serving[0], question, unresolved)
    return Gate(
        id=identity("binary", found.path, "<images>", code, 0),
        layer="binary",
        file=found.path,
        line=1,
        end_line=1,
        column=1,
        scope="<images>",
        code=code,
        verdict=verdict,
        effect=effect,
        loses=losses,
        because=(Step(found.path, 1, _told(first, len(group), question.target)),),
        count=len(group),
        message=MESSAGE if rejected else None,
    )


def _told(unit: Unit, count: int, target: str) -> str:
    """In words: what is there, and by which image the target runs, or why by none."""
    machine = [image for image in unit.images if image.kind == "machine"]
    ptx = [image for image in unit.images if image.kind == "ptx"]
    parts = [f"machine code for {', '.join(images.names(machine))}" if machine else "no machine code"]
    parts.append(f"PTX for {', '.join(images.names(ptx))}" if ptx else "no PTX")
    what = f"{count} translation unit{'s' * (count != 1)} with {' and '.join(parts)}"
    profile = archs.find(target)
    fitting = [image for image in (*machine, *ptx) if images.runs_on(image, profile)]
    if not fitting:
        return f"{what}: {target} can run none of it"
    best = max(fitting, key=lambda image: (image.kind == "machine", image.arch.number, image.arch.suffix))
    how = "runs" if best.kind == "machine" else "compiles when it is loaded, and runs,"
    return f"{what}: {target} {how} {best.name}"


def _losses(
    found: Library, group: list[Unit], reference: str, question: Question, unresolved: list[Unresolved]
) -> tuple[Loss, ...]:
    """The kernels that a reference has in these units and the target in none, by readable name."""
    lost = _kernels(found, group, reference, question, unresolved)
    others = [unit for unit in found.units if _verdict(unit, question.target) == "admit"]
    kept = _kernels(found, others, question.target, question, unresolved) if others else set()
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for member, name in lost - kept:
        counts[readable(name), member] += 1
    return tuple(
        Loss(f"{name} ({count} variants)" if count > 1 else name, "kernel", _place(found.path, member), 1)
        for (name, member), count in sorted(counts.items())
    )


def _place(path: str, member: str) -> str:
    return f"{path}:{member}" if member else path


def _kernels(
    found: Library, units: Iterable[Unit], arch: str, question: Question, unresolved: list[Unresolved]
) -> set[tuple[str, str]]:
    """Member and mangled name of the kernels that an architecture can run in units of a library."""
    profile = archs.find(arch)
    wanted: list[tuple[str, Image]] = []
    for unit in units:
        fitting = [i for i in unit.images if i.kind == "machine" and images.runs_on(i, profile)]
        if fitting:
            best = max(fitting, key=lambda image: (image.arch.number, image.arch.suffix))
            wanted.append((unit.member, best))
    told = question.names(found.path, [image for _, image in wanted])
    unread = sum(names is None for names in told)
    if unread:
        what = f"kernels of {unread} image{'s' * (unread != 1)} for {arch}"
        unresolved.append(Unresolved(found.path, 1, what, "their symbol tables cannot be read"))
    return {(member, name) for (member, _), names in zip(wanted, told, strict=True) for name in names or ()}
