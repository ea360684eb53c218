"""What each export of a build can run: functions, kernels, guarded places, and the ways to them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analyzer.cuda.bindings import Export, exports
from analyzer.cuda.followed import Followed, Follower
from analyzer.cuda.launches import dependent
from analyzer.cuda.needs import in_library
from analyzer.cuda.program import Program, Symbol
from analyzer.cuda.reach import Hop, Mentions, Reach, reach

Mark = tuple[str, int]
"""A guarded place: file and line of its directive."""


@dataclass(frozen=True, slots=True, order=True)
class Function:
    """A definition by its qualified name and place; ``kind`` as in ``functions.Kind``."""

    name: str
    kind: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Way:
    """One step of what leads from an export to a kernel or a guard; ``source`` is None at the export."""

    source: Function | None
    target: Function
    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class Reached:
    """One export of a build and what it can run.

    ``marks`` are the guarded places inside what it can run, each with the definition that holds it;
    ``ways`` lead from the export to its kernels and to those definitions. ``doubtful``: some definition on
    the way was not read for certain. ``perhaps`` are those of the marks of which the arguments of a
    library's templates, which are not followed, decide whether they are run.
    ``dependent``: something that it can run asks for programmatic dependent launch.
    """

    export: Export
    functions: tuple[Function, ...]
    kernels: tuple[Function, ...]
    marks: tuple[tuple[Mark, Function], ...]
    ways: tuple[Way, ...]
    doubtful: bool
    followed: tuple[Followed, ...]
    perhaps: tuple[Mark, ...] = ()
    dependent: bool = True

    @property
    def certain(self) -> tuple[tuple[Mark, Function], ...]:
        """The marks without those that perhaps count, which stop only who chooses a library's part amiss."""
        perhaps = frozenset(self.perhaps)
        return tuple(found for found in self.marks if found[0] not in perhaps)


def reached(
    program: Program,
    spans: Mapping[str, Sequence[tuple[int, int, int]]],
    follower: Follower | None = None,
) -> tuple[Reached, ...]:
    """Every export of the program's files with what it can run.

    ``spans`` holds, for each file, the line of each guard and the lines from there to the end of what it
    decides. ``follower``, if there is one, judges what each export reaches.
    """
    found: dict[tuple[str, str, int], Export] = {}
    for file in program.files:
        for export in exports(file, program.macros):
            found.setdefault((export.name, export.file, export.line), export)
    mentions = follower.mentions if follower is not None else Mentions(program)
    return tuple(_reached(program, mentions, export, spans, follower) for export in found.values())


def _reached(
    program: Program,
    mentions: Mentions,
    export: Export,
    spans: Mapping[str, Sequence[tuple[int, int, int]]],
    follower: Follower | None,
) -> Reached:
    run = reach(program, export.function, mentions)
    marks = _marks(run, spans)
    chosen = _chosen_by_template(run, (symbol for _, symbol in marks))
    ends = [*run.kernels, *(symbol for _, symbol in marks)]
    return Reached(
        export,
        _functions(run.functions),
        _functions(run.kernels),
        tuple((mark, _function(symbol)) for mark, symbol in marks),
        _ways(run, ends),
        run.doubtful,
        follower.followed(run.hops) if follower is not None else (),
        tuple(mark for mark, symbol in marks if symbol in chosen),
        any(dependent(symbol) for symbol in run.hops),
    )


def _chosen_by_template(run: Reach, holders: Iterable[Symbol]) -> frozenset[Symbol]:
    """Definitions of a library that the library itself names, or that are one of several of their name."""
    own = [symbol for symbol in holders if in_library(symbol.file)]
    names = {symbol.name for symbol in own}
    alike = [symbol for symbol in run.hops if symbol.name in names and in_library(symbol.file)]
    places = {(symbol.definition.path, symbol.file, symbol.definition.line) for symbol in alike}
    counts = Counter(path for path, _, _ in places)
    return frozenset(
        symbol for symbol in own if _named_by_library(run.hops[symbol]) or counts[symbol.definition.path] > 1
    )


def _named_by_library(hop: Hop) -> bool:
    return hop.source is not None and in_library(hop.source.file)


def _marks(run: Reach, spans: Mapping[str, Sequence[tuple[int, int, int]]]) -> list[tuple[Mark, Symbol]]:
    """The guards that stand in reached definitions, or around them; each with the innermost definition."""
    by_file: dict[str, list[Symbol]] = defaultdict(list)
    for symbol in run.hops:
        if symbol.file in spans and symbol.kind != "macro":
            by_file[symbol.file].append(symbol)
    found: list[tuple[Mark, Symbol]] = []
    for file in sorted(by_file):
        symbols = sorted(by_file[file], key=_size)
        rows = [(symbol.definition.header_line, symbol.definition.end_line, symbol) for symbol in symbols]
        for line, first, last in spans[file]:
            holder = next((symbol for top, end, symbol in rows if top <= last and first <= end), None)
            if holder is not None:
                found.append(((file, line), holder))
    return found


def _size(symbol: Symbol) -> tuple[int, int, bool]:
    own = symbol.definition
    return own.end_line - own.header_line, own.line, not symbol.is_function


def _ways(run: Reach, ends: Iterable[Symbol]) -> tuple[Way, ...]:
    hops: dict[Hop, None] = {}
    for end in ends:
        here: Symbol | None = end
        way: list[Hop] = []
        while here is not None and run.hops[here] not in hops:
            way.append(run.hops[here])
            here = run.hops[here].source
        hops.update(dict.fromkeys(reversed(way)))
    ways = (Way(_function(h.source) if h.source else None, _function(h.target), h.way, h.line) for h in hops)
    return tuple(dict.fromkeys(ways))


def _functions(symbols: Iterable[Symbol]) -> tuple[Function, ...]:
    return tuple(dict.fromkeys(_function(symbol) for symbol in symbols))


def _function(symbol: Symbol) -> Function:
    own = symbol.definition
    return Function(own.qualified, symbol.kind, symbol.file, own.line)
