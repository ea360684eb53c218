"""Instructions that the target compiles and its assembler refuses: gates of the layer ``isa``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from analyzer.archs import Spelling
from analyzer.cuda.activity import FileActivity, Unit
from analyzer.cuda.exported import reached
from analyzer.cuda.guards import Bits, Draft
from analyzer.cuda.instructions import Requirement, may_hold, needs
from analyzer.cuda.program import Program, Reader, execution_kind
from analyzer.model import Loss, Step, Unresolved


class Site(NamedTuple):
    """An instruction that not every target has."""

    line: int
    end_line: int
    column: int
    opcode: str
    requirement: Requirement


class Finder:
    """Finds them, file by file; a file's instructions are read once for all units."""

    def __init__(
        self, reader: Reader, bits: Bits, link: Callable[[Sequence[Unit], Sequence[int]], Program]
    ) -> None:
        self.reader, self.bits, self.link = reader, bits, link
        self._sites: dict[str, tuple[Site, ...]] = {}

    def drafts(
        self, units: Sequence[Unit], spelled: Sequence[Spelling]
    ) -> tuple[tuple[Draft, ...], tuple[Unresolved, ...]]:
        """The instructions that some reference can assemble and the target cannot, though it compiles them.

        Args:
            units: of one build.
            spelled: how the build names each architecture, in the order of the mask's bits.

        Only those count that an export can run on the target. Instructions that the table does not know
        are told as unresolved.
        """
        wrong: dict[tuple[str, int], tuple[FileActivity, Site]] = {}
        for unit in units:
            for path, activity in unit.files.items():
                for site in self.sites(path):
                    if activity.active(site.line) & self.bits.target and self._bad(activity, site, spelled):
                        wrong.setdefault((path, site.line), (activity, site))
        if not wrong:
            return (), ()
        spans: dict[str, list[tuple[int, int, int]]] = {}
        for path, line in sorted(wrong):
            spans.setdefault(path, []).append((line, line, line))
        program = self.link(units, (self.bits.target,))
        met = {mark for export in reached(program, spans) for mark, _ in export.marks}
        drafts, unresolved = [], []
        for (path, line), (activity, site) in sorted(wrong.items(), key=lambda item: item[0]):
            if (path, line) not in met:
                continue
            if site.requirement.known:
                drafts.append(self._draft(activity, site, spelled, program))
            else:
                what = site.opcode.replace("\0", "…")
                unresolved.append(Unresolved(path, line, what, site.requirement.reason))
        return tuple(drafts), tuple(unresolved)

    def sites(self, path: str) -> tuple[Site, ...]:
        """The instructions of a file, whatever is compiled of it."""
        if path not in self._sites:
            self._sites[path] = tuple(self._read(path))
        return self._sites[path]

    def _read(self, path: str) -> Iterator[Site]:
        source = self.reader.source(path)
        if not may_hold(source.code):
            return
        whole = source.whole
        for instruction, requirement in needs(whole.text, whole.code):
            if requirement.needs or not requirement.known:
                line = source.line(instruction.at)
                column = instruction.at - source.starts[line - 1] + 1
                yield Site(line, line, column, instruction.opcode, requirement)

    def _bad(self, activity: FileActivity, site: Site, spelled: Sequence[Spelling]) -> bool:
        """Whether the target may not assemble it, while some reference can, or does not compile it."""
        target = spelled[self.bits.target.bit_length() - 1]
        if site.requirement.admits(target) is not False:
            return not site.requirement.known
        if not any(need.targets for need in site.requirement.needs):
            return False
        return any(
            site.requirement.admits(spelled[bit.bit_length() - 1]) or not activity.active(site.line) & bit
            for bit in self.bits.references
        )

    def _draft(
        self, activity: FileActivity, site: Site, spelled: Sequence[Spelling], program: Program
    ) -> Draft:
        target = spelled[self.bits.target.bit_length() - 1]
        lacking = site.requirement.lacking(target)
        assert lacking is not None
        admit = sum(1 << i for i, one in enumerate(spelled) if site.requirement.admits(one))
        file = self.reader.file(activity.path, activity.inactive(self.bits.target))
        around = file.facts.enclosing(site.line)
        places = ", ".join(sorted(spelling.target for spelling in lacking.targets))
        return Draft(
            file=activity.path,
            line=site.line,
            end_line=site.end_line,
            column=site.column,
            last=site.line,
            scope=around.qualified if around is not None else "",
            kind=execution_kind(around, program.macros) if around is not None else "",
            code=site.opcode,
            group=site.line,
            chained=False,
            admit=admit,
            unknown=0,
            reason="",
            effect="illegal_instruction",
            losses=(Loss(site.opcode, "instruction", activity.path, site.line),),
            falls_back_to=None,
            message=f"{site.opcode} does not assemble for {target.target}",
            because=(Step(activity.path, site.line, f"{lacking.words} needs {places or 'no known target'}"),),
            layer="isa",
        )
