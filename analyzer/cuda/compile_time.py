"""``if constexpr`` in device code that the architecture decides, directly or through a named constant.

The answer may stand in a constant (``constexpr bool fast = arch >= 10``): then the gate stands there, and the
branches that it decides are its uses. Sides are compared as everywhere: what a reference may run, and the
target surely does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analyzer.cuda import constants, intrinsics, tokens
from analyzer.cuda.activity import FileActivity, Unit
from analyzer.cuda.constants import Constant, Values
from analyzer.cuda.directives import Macro
from analyzer.cuda.expansion import Unknown
from analyzer.cuda.functions import Definition
from analyzer.cuda.guards import Bits, Draft
from analyzer.cuda.program import Reader
from analyzer.cuda.source import Source, closing, shown
from analyzer.model import Effect, Step

_TEST = re.compile(r"\bif\s+constexpr\s*(?=\()")
_DOOR = "__CUDA_ARCH__"
#: Where a statement begins.
_WORD = re.compile(r"\S")
_DEVICE = ("kernel", "device", "host_device")
#: How many constants deep an answer is followed.
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class _Test:
    """An ``if constexpr``: offsets of its condition and of both sides; ``other`` is empty without else."""

    condition: tuple[int, int]
    taken: tuple[int, int]
    other: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What one file has to do with constants: those that it declares, its macros with their lines, its tests.

    ``asked`` are the names in the conditions of its tests.
    """

    source: Source
    code: str
    constants: tuple[Constant, ...]
    macros: tuple[tuple[int, Macro], ...]
    tests: tuple[_Test, ...]
    asked: frozenset[str]


class Finder:
    """Finds them unit by unit; what files declare is read once."""

    def __init__(self, reader: Reader, bits: Bits, passes: int) -> None:
        self.reader, self.bits, self.passes = reader, bits, passes
        self._facts: dict[str, _Facts] = {}
        self._uses: dict[str, dict[str, frozenset[str]]] = {}
        """What the value of a name is made of, by name and by the file that declares it."""
        self._known: dict[tuple[FileActivity, ...], tuple[Draft, ...]] = {}

    def drafts(self, units: Sequence[Unit]) -> tuple[Draft, ...]:
        """The decisions of a build's units, by place; of several for one place the first."""
        found: dict[tuple[str, int], Draft] = {}
        for unit in units:
            for draft in self._of(unit):
                found.setdefault((draft.file, draft.line), draft)
        return tuple(found[place] for place in sorted(found))

    def _of(self, unit: Unit) -> tuple[Draft, ...]:
        names = self._answers(unit)
        if not names:
            return ()
        activities = [
            a for a in unit.files.values() if self.facts(a).asked & names or self._declares(a, names)
        ]
        key = tuple(activities)
        if key not in self._known:
            self._known[key] = tuple(_Unit(self, unit, activities, names).drafts())
        return self._known[key]

    def _declares(self, activity: FileActivity, names: frozenset[str]) -> bool:
        return any(activity.path in self._uses.get(name, ()) for name in names)

    def _answers(self, unit: Unit) -> frozenset[str]:
        """The names by which the architecture may decide a test of the unit, and those behind them."""
        doors = _varying(unit)
        asked = frozenset[str]().union(*(self.facts(activity).asked for activity in unit.files.values()))
        if not doors:
            return frozenset()
        made_of: dict[str, set[str]] = {}
        pending = list(asked)
        while pending:
            name = pending.pop()
            if name in made_of or name in doors:
                continue
            declared = self._uses.get(name, {})
            parts = made_of[name] = set()
            for path, used in declared.items():
                if path in unit.files:
                    parts |= used
            pending += parts
        found = set(doors)
        for _ in range(_ROUNDS):
            further = {n for n, parts in made_of.items() if n not in found and not found.isdisjoint(parts)}
            if not further:
                break
            found |= further
        return frozenset(found) if not (found - doors).isdisjoint(asked) or asked & doors else frozenset()

    def facts(self, activity: FileActivity) -> _Facts:
        """What a file has to do with constants."""
        path = activity.path
        found = self._facts.get(path)
        if found is None:
            source = self.reader.source(path)
            code = source.whole.code
            tests = tuple(_tests(code)) if "constexpr" in code else ()
            words = (
                word for test in tests for word in re.findall(r"[A-Za-z_]\w*", code[slice(*test.condition)])
            )
            own = constants.constants(source)
            macros = tuple(_macros(activity))
            found = self._facts[path] = _Facts(source, code, own, macros, tests, frozenset(words))
            for constant in own:
                self._use(constant.name, path, constant.value)
            for _, macro in macros:
                self._use(macro.name, path, macro.body)
        return found

    def _use(self, name: str, path: str, value: Sequence[str]) -> None:
        by_file = self._uses.setdefault(name, {})
        by_file[path] = by_file.get(path, frozenset()) | frozenset(filter(tokens.is_name, value))


def _varying(unit: Unit) -> frozenset[str]:
    """The macros that tell the device passes of a unit apart."""
    device = [one.macros for one in unit.configurations if _DOOR in one.macros]
    names = {name for macros in device for name in macros}
    return frozenset(name for name in names if len({macros.get(name) for macros in device}) > 1)


def _macros(activity: FileActivity) -> Iterator[tuple[int, Macro]]:
    for directive in activity.facts.directives:
        macro = directive.macro
        if directive.kind == "define" and macro is not None and macro.parameters is None and macro.body:
            yield directive.line, macro


def _tests(code: str) -> Iterator[_Test]:
    for match in _TEST.finditer(code):
        end = _past(code, match.end())
        taken = _statement(code, end)
        rest = re.compile(r"\s*else\b").match(code, taken[1])
        other = _statement(code, rest.end()) if rest is not None else (taken[1], taken[1])
        yield _Test((match.end() + 1, end - 1), taken, other)


def _past(code: str, at: int) -> int:
    """The offset after the bracket that closes the one at an offset."""
    return min(closing(code, at + 1, opening=code[at]) + 1, len(code))


def _statement(code: str, at: int) -> tuple[int, int]:
    """The offsets of the statement that begins at or after an offset."""
    start = next((found.start() for found in _WORD.finditer(code, at)), len(code))
    if code.startswith("{", start):
        return start, _past(code, start)
    opened = code.find("(", start)
    if opened >= 0 and re.compile(r"if\b").match(code, start):
        end = _statement(code, _past(code, opened))[1]
        rest = re.compile(r"\s*else\b").match(code, end)
        return start, _statement(code, rest.end())[1] if rest is not None else end
    end = code.find(";", start)
    return start, end + 1 if end >= 0 else len(code)


class _Unit:
    """One unit, pass by pass."""

    def __init__(
        self, finder: Finder, unit: Unit, activities: Sequence[FileActivity], names: frozenset[str]
    ) -> None:
        self.finder, self.unit, self.activities, self.names = finder, unit, activities, names
        self.bits = finder.bits
        self._values = {bit: self._of_pass(bit) for bit in (1 << i for i in range(finder.passes))}

    def _of_pass(self, bit: int) -> Values:
        declared: list[Constant] = []
        macros: dict[str, Macro] = {}
        given = self.unit.configurations[bit.bit_length() - 1].macros
        for name in self.names & given.keys():
            macros[name] = Macro(name, None, tokens.split(given[name]))
        for activity in self.activities:
            facts = self.finder.facts(activity)
            declared += (one for one in facts.constants if activity.active(one.line) & bit)
            for line, macro in facts.macros:
                if macro.name in self.names and activity.active(line) & bit:
                    macros[macro.name] = macro
        return Values(declared, macros)

    def drafts(self) -> Iterator[Draft]:
        """The decisions of the unit."""
        for activity in self.activities:
            facts = self.finder.facts(activity)
            found: dict[int, list[tuple[_Test, Draft]]] = {}
            for test in facts.tests:
                if facts.source.directive_lines.get(facts.source.line(test.condition[0])):
                    continue
                draft = self._draft(activity, facts, test)
                if draft is not None:
                    found.setdefault(draft.line, []).append((test, draft))
            for rows in found.values():
                yield _together([draft for _, draft in rows])

    def _draft(self, activity: FileActivity, facts: _Facts, test: _Test) -> Draft | None:
        source, (start, end) = facts.source, test.condition
        words = [token for token in tokens.split(source.text[start:end]) if token != " "]
        if self.names.isdisjoint(words):
            return None
        line = source.line(start)
        around = self._around(activity, line)
        if around is None or around.kind not in _DEVICE:
            return None
        here = activity.active(line) & self.bits.device
        true, false = self._truth(words, here)
        if (true in (0, here) and false in (0, here)) or not here & self.bits.target:
            return None
        effect, fallback = self._effect(facts, test, true, false, here)
        stands = self._stands(activity, facts, words)
        admit = here & ~false
        place, code, last = (start, end), source.text[start:end], source.line(end)
        if stands is not None:
            place, code = (stands.start, stands.end), source.text[stands.start : stands.end]
            admit, _ = self._truth(stands.value, activity.active(stands.line) & self.bits.device)
            line, last = stands.line, source.line(stands.end)
        return Draft(
            file=activity.path,
            line=line,
            end_line=last,
            column=place[0] - source.starts[source.line(place[0]) - 1] + 1,
            last=last,
            scope=around.qualified if stands is None else "",
            kind="host",
            code=shown(code),
            group=line,
            chained=False,
            admit=admit,
            unknown=0,
            reason="",
            effect=effect,
            losses=(),
            falls_back_to=fallback if effect == "degraded" else None,
            message=fallback if effect == "raises" else None,
            because=(
                Step(activity.path, source.line(start), f"if constexpr ({shown(source.text[start:end])})"),
            ),
            layer="host",
            within=((source.line(start), source.line(max(test.taken[1], test.other[1]) - 1)),),
        )

    def _truth(self, words: Sequence[str], here: int) -> tuple[int, int]:
        """The architectures for which a condition holds for certain, and for which it does not."""
        true = false = 0
        for bit, values in self._values.items():
            if bit & here:
                value = values.of(words)
                if not isinstance(value, Unknown):
                    true, false = (true | bit, false) if value else (true, false | bit)
        return true, false

    def _stands(self, activity: FileActivity, facts: _Facts, words: Sequence[str]) -> Constant | None:
        """The truth that a constant of the same file stands for, if the condition knows no other answer."""
        asked = {word for word in words if word in self.names}
        found = [
            one
            for one in facts.constants
            if one.name in asked and activity.active(one.line) & self.bits.target
        ]
        single = len(found) == len(asked) == 1 and found[0].parameters is None and found[0].truth
        return found[0] if single else None

    def _effect(
        self, facts: _Facts, test: _Test, true: int, false: int, here: int
    ) -> tuple[Effect, str | None]:
        target = self.bits.target
        references = sum(self.bits.references) & here
        if not references:
            return "none", None
        older = references & (2 * target - 1)
        nearest = 1 << (older.bit_length() - 1) if older else references & -references
        if true & target and nearest & ~true:
            own, lost = test.taken, test.other
        elif false & target and nearest & ~false:
            own, lost = test.other, test.taken
        else:
            return "none", None
        text = facts.source.text
        stop = self._stop(facts, own)
        if stop is not None and self._stop(facts, lost) is None:
            return "raises", stop
        if own == test.taken and true & (target | self.bits.older) == target and here & self.bits.older:
            return "none", None  # written for the target's generation
        first = _first(text[own[0] : own[1]])
        if not _first(text[lost[0] : lost[1]]):
            return "none", None  # what comes after it for all
        return ("degraded", first) if first else ("excluded", None)

    def _stop(self, facts: _Facts, span: tuple[int, int]) -> str | None:
        for site in intrinsics.sites(facts.source.text, facts.code, *span):
            if site.intrinsic.kind == "trap":
                return shown(facts.source.text[site.at : facts.code.find(";", site.at)])
        return None

    def _around(self, activity: FileActivity, line: int) -> Definition | None:
        file = self.finder.reader.file(activity.path, activity.inactive(self.bits.target))
        return file.facts.enclosing(line)


def _first(text: str) -> str | None:
    """The first line of a block that says something."""
    return next((shown(row) for row in text.strip("{} \t\n").splitlines() if re.search(r"\w", row)), None)


def _together(drafts: Sequence[Draft]) -> Draft:
    """The decisions that hang on one constant, as one: the gravest, and where the others are."""
    worst = min(drafts, key=lambda draft: draft.gravity)
    within = tuple(dict.fromkeys(span for draft in drafts for span in draft.within))
    because = tuple(dict.fromkeys(step for draft in drafts for step in draft.because))
    return replace(worst, within=within, because=because)
