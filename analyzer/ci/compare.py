"""Two sets of gates side by side: which are the same, which came, went, moved, were rewritten or changed.

Ids pair most of them. What is left over is paired by what an edit leaves alone: first the file (also a
renamed one), then the scope, then the condition, then the outcome. A pair is never made of gates that
differ in all of these: where nothing ties two gates together they are one that went and one that came.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from analyzer.ci.known import Known, Outcome

Kind = Literal["added", "changed", "gone", "rewritten", "moved", "same"]
_WORDS = re.compile(r"[^\W_]+|[<>=!]+")
_AKIN, _ALIKE, _NEARLY = 0.3, 0.5, 0.8
"""Shares of what two texts have in common: akin is enough where all else is equal."""
_RENAMED = 0.5
"""Share of common gates from which a file is taken for another one, renamed."""
_WHOLE_FILE = frozenset(["", "<module>"])


@dataclass(frozen=True, slots=True)
class Change:
    """One gate before and after; one of the two may be missing."""

    old: Known | None
    new: Known | None

    @property
    def kind(self) -> Kind:
        """The gravest word for it: a change of outcome before one of text, that before one of place."""
        if self.old is None:
            return "added"
        if self.new is None:
            return "gone"
        archs = self.old.verdict.keys() & self.new.verdict.keys()
        if self.old.outcome(archs) != self.new.outcome(archs):
            return "changed"
        if self.rewritten:
            return "rewritten"
        return "moved" if self.moved else "same"

    @property
    def rewritten(self) -> bool:
        """The condition reads otherwise."""
        return self.old is not None and self.new is not None and self.old.condition != self.new.condition

    @property
    def moved(self) -> bool:
        """It stands in another file, scope or order."""
        if self.old is None or self.new is None:
            return False
        return (self.old.id != self.new.id and not self.rewritten) or self.old.place != self.new.place

    @property
    def known(self) -> Known:
        """The gate as it is now, or as it was."""
        found = self.new or self.old
        assert found is not None
        return found


def compare(old: Sequence[Known], new: Sequence[Known]) -> tuple[Change, ...]:
    """Every gate of both sides exactly once, in the order of :func:`_sorting`.

    Verdicts are compared on the architectures that both sides know.
    """
    archs = _archs(old) & _archs(new)

    def outcome(k: Known) -> Outcome:
        return k.outcome(archs)

    pairing = _Pairing(old, new, outcome)
    pairing.by_key(lambda k: (k.place, k.condition))
    renamed = _renamed(pairing.old, pairing.new, old, new)

    def file(k: Known) -> str:
        return renamed.get(k.file, k.file)

    pairing.by_key(lambda k: (k.layer, file(k), k.scope, k.condition))
    # The condition reads otherwise, in one scope, and decides the same.
    pairing.best(lambda k: (k.layer, file(k), k.scope, outcome(k)), _conditions(_AKIN))
    # The scope has another name, or the code went into another one, in one file.
    pairing.best(lambda k: (k.layer, file(k), k.condition, outcome(k)), _scopes)
    # The condition reads otherwise, and decides otherwise.
    pairing.best(lambda k: (k.layer, file(k), k.scope), _conditions(_ALIKE))
    # The function went into another file: as it is, with another outcome, with another condition.
    pairing.best(lambda k: (k.layer, k.condition, _function(k), outcome(k)), _files)
    pairing.best(lambda k: (k.layer, k.condition), _places)
    pairing.best(lambda k: (k.layer, _function(k), outcome(k)), _conditions(_ALIKE))
    return tuple(sorted(pairing.changes(), key=_sorting))


_KINDS: tuple[Kind, ...] = ("added", "changed", "gone", "rewritten", "moved", "same")


def _sorting(change: Change) -> tuple[int, tuple[int, int], str, str]:
    known = change.known
    return _KINDS.index(change.kind), known.gravity, known.file, known.id


class _Pairing:
    """Gates of both sides that have no partner yet, and the pairs that were made."""

    def __init__(
        self, old: Sequence[Known], new: Sequence[Known], outcome: Callable[[Known], Outcome]
    ) -> None:
        self.outcome = outcome
        self.old = sorted(old, key=lambda k: k.id)
        self.new = sorted(new, key=lambda k: k.id)
        self.pairs: list[tuple[Known, Known]] = []

    def by_key(self, key: Callable[[Known], Hashable]) -> None:
        """Pair gates with equal keys in their order; if one side has more, equal outcomes stay together."""
        self._within(key, lambda before, after: _aligned(before, after, self.outcome))

    def best(self, key: Callable[[Known], Hashable], score: Callable[[Known, Known], float]) -> None:
        """Pair gates with equal keys, the best pair first; a score of 0 is none."""
        self._within(key, lambda before, after: _greedy(before, after, score))

    def changes(self) -> Iterator[Change]:
        for old, new in self.pairs:
            yield Change(old, new)
        for known in self.old:
            yield Change(known, None)
        for known in self.new:
            yield Change(None, known)

    def _within(
        self,
        key: Callable[[Known], Hashable],
        pair: Callable[[list[Known], list[Known]], Iterable[tuple[Known, Known]]],
    ) -> None:
        before, after = _grouped(self.old, key), _grouped(self.new, key)
        found = [two for name, group in before.items() if name in after for two in pair(group, after[name])]
        self.pairs += found
        gone, come = {old.id for old, _ in found}, {new.id for _, new in found}
        self.old = [k for k in self.old if k.id not in gone]
        self.new = [k for k in self.new if k.id not in come]


def _grouped(gates: Iterable[Known], key: Callable[[Known], Hashable]) -> dict[Hashable, list[Known]]:
    groups: dict[Hashable, list[Known]] = defaultdict(list)
    for known in gates:
        groups[key(known)].append(known)
    return {name: sorted(group, key=lambda k: (k.order, k.id)) for name, group in groups.items()}


def _aligned(
    before: list[Known], after: list[Known], outcome: Callable[[Known], Outcome]
) -> list[tuple[Known, Known]]:
    """Two rows in order, as many pairs as fit, equal outcomes together where that is possible.

    The best alignment is found by dynamic programming; a row is the equal conditions of one scope.
    """
    if len(before) == len(after):
        return list(zip(before, after, strict=True))
    swap = len(before) > len(after)
    few, many = (after, before) if swap else (before, after)
    spare = len(many) - len(few)
    # best[i][s]: most equal outcomes among the first i of the few when s of the many were left out so far.
    best = [[0] * (spare + 1) for _ in range(len(few) + 1)]
    for i, one in enumerate(few):
        for s in range(spare + 1):
            taken = best[i][s] + (outcome(one) == outcome(many[i + s]))
            best[i + 1][s] = max(taken, best[i + 1][s - 1] if s else 0)
    pairs: list[tuple[Known, Known]] = []
    s = spare
    for i in range(len(few), 0, -1):
        while s and best[i][s] == best[i][s - 1]:
            s -= 1
        pairs.append((few[i - 1], many[i - 1 + s]))
    return [(many_, few_) if swap else (few_, many_) for few_, many_ in reversed(pairs)]


def _greedy(
    before: list[Known], after: list[Known], score: Callable[[Known, Known], float]
) -> Iterator[tuple[Known, Known]]:
    rated = [
        (-points, abs(i - j), old.id, new.id, old, new)
        for i, old in enumerate(before)
        for j, new in enumerate(after)
        if (points := score(old, new)) > 0
    ]
    used: set[tuple[str, str]] = set()
    for *_, old, new in sorted(rated, key=lambda row: row[:4]):
        if ("old", old.id) in used or ("new", new.id) in used:
            continue
        used |= {("old", old.id), ("new", new.id)}
        yield old, new


def _archs(gates: Iterable[Known]) -> frozenset[str]:
    return frozenset(arch for known in gates for arch in known.verdict)


def _ratio(old: Sequence[str], new: Sequence[str]) -> float:
    """Share of what two sequences have in common, in order; 1 for equal ones."""
    return SequenceMatcher(None, old, new, autojunk=False).ratio()


def _conditions(least: float) -> Callable[[Known, Known], float]:
    """How alike the words of two conditions are, if they are at least that much."""

    def score(old: Known, new: Known) -> float:
        likeness = _ratio(_WORDS.findall(old.condition), _WORDS.findall(new.condition))
        return likeness if likeness >= least else 0.0

    return score


def _function(known: Known) -> str:
    """The name of the function that holds a gate, without what encloses it; its file outside of any.

    Whether it is private is left out: that changes when a method becomes a function.
    """
    if known.scope in _WHOLE_FILE:
        return f"in {known.file}"
    return re.split(r"\.|::", known.scope)[-1].lstrip("_")


def _scopes(old: Known, new: Known) -> float:
    return _ratio(old.scope, new.scope) + 0.01


def _files(old: Known, new: Known) -> float:
    return _ratio(old.file.split("/"), new.file.split("/"))


def _places(old: Known, new: Known) -> float:
    """How alike two places are, if scope and folder are nearly the same."""
    if not {old.scope, new.scope}.isdisjoint(_WHOLE_FILE) or _files(old, new) < _ALIKE:
        return 0.0
    likeness = _ratio(old.scope, new.scope)
    return likeness if likeness >= _NEARLY else 0.0


def _renamed(
    gone: Sequence[Known], come: Sequence[Known], old: Sequence[Known], new: Sequence[Known]
) -> Mapping[str, str]:
    """Files that hold no gate any more, by name, and the file that holds most of theirs now."""
    files_before, files_after = {k.file for k in old}, {k.file for k in new}
    before = _contents(k for k in gone if k.file not in files_after)
    after = _contents(k for k in come if k.file not in files_before)
    rated = sorted(
        (-share, name != other, name, other)
        for name, (path, content) in ((f, (f, c)) for f, c in before.items())
        for other, held in after.items()
        if (share := (content & held).total() / max(content.total(), held.total())) >= _RENAMED and path
    )
    found: dict[str, str] = {}
    for _, _, name, other in rated:
        if name not in found and other not in found.values():
            found[name] = other
    return found


def _contents(gates: Iterable[Known]) -> dict[str, Counter[tuple[str, str, str]]]:
    contents: dict[str, Counter[tuple[str, str, str]]] = defaultdict(Counter)
    for known in gates:
        contents[known.file][known.layer, known.scope, known.condition] += 1
    return contents
