"""Passages through a file and all that it includes, kept so that they are walked once from each state.

A header is met by unit after unit, mostly with the same macros defined. What a passage does depends on the
masks under which the file is entered, on the macros that are read on the way, and on which files were
entered before. Where all these are the same again, its effects are the same and need only be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzer.cuda.activity import Visits
from analyzer.cuda.presence import State

Masks = tuple[int, int]
"""The configurations that have entered a file: for certain, and perhaps."""
Place = tuple[str, int, str]
"""File and line of an include that leads nowhere known, and its header."""

#: How many sets of things read are told apart for one file and entrance.
_KEPT = 24


@dataclass(frozen=True, slots=True)
class Passage:
    """The effects of a passage: what it leaves behind, how many inclusions it is, and how deep they go."""

    names: tuple[str, ...]
    states: tuple[State, ...]
    entered: Mapping[str, Masks]
    notes: Mapping[str, Visits]
    missing: Mapping[Place, int]
    inclusions: int
    depth: int


@dataclass(frozen=True, slots=True)
class Known:
    """Passages that read the same macros and files, by what these were."""

    names: tuple[str, ...]
    files: tuple[str, ...]
    by_state: dict[tuple[tuple[Masks | None, ...], tuple[State | None, ...]], Passage]
    starts: set[tuple[Masks | None, ...]]


@dataclass(slots=True)
class Recording:
    """A passage that is under way: what it has read and noted so far, included files among it.

    ``names`` and ``files`` hold what was changed, too; ``log`` and ``files_log`` are the lengths of the
    walk's logs at its start. ``sound``: it can be repeated elsewhere.
    """

    key: tuple[object, ...]
    level: int
    log: int
    files_log: int
    names: set[str] = field(default_factory=set)
    files: dict[str, None] = field(default_factory=dict)
    notes: dict[str, Visits] = field(default_factory=dict)
    missing: dict[Place, int] = field(default_factory=dict)
    inclusions: int = 0
    depth: int = 0
    sound: bool = True

    def take_in(
        self, names: set[str] | tuple[str, ...], files: dict[str, None] | tuple[str, ...], passage: Passage
    ) -> None:
        """Note what a part of this passage read and did."""
        self.names.update(names)
        self.files.update(files if isinstance(files, dict) else dict.fromkeys(files))
        for path, visits in passage.notes.items():
            self.note(path, visits)
        for place, mask in passage.missing.items():
            self.missing[place] = self.missing.get(place, 0) | mask
        self.inclusions += passage.inclusions

    def note(self, path: str, visits: Visits) -> None:
        """Add what was noted about a file."""
        before = self.notes.get(path)
        self.notes[path] = visits if before is None else before.joined(visits)


class Passages:
    """The passages known so far, by file and the masks under which it is entered."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], list[Known]] = {}

    def find(
        self, key: tuple[object, ...], macros: Mapping[str, State], entered: Mapping[str, Masks]
    ) -> tuple[Known, Passage] | None:
        """The passage from this state, with what it reads; None if it was never made."""
        rows = self._known.get(key, ())
        for at, known in enumerate(rows):
            start = tuple(map(entered.get, known.files))
            if start not in known.starts:
                continue
            found = known.by_state.get((start, tuple(map(macros.get, known.names))))
            if found is not None:
                if at:
                    self._known[key] = [known, *rows[:at], *rows[at + 1 :]]
                return known, found
        return None

    def store(
        self,
        recording: Recording,
        macros: Mapping[str, State],
        entered: Mapping[str, Masks],
        log: list[tuple[str, State | None]],
        files_log: list[tuple[str, Masks | None]],
    ) -> Passage:
        """Keep a finished passage, if it can be repeated.

        ``macros`` and ``entered`` are as it leaves them; the logs hold what they were before each change.
        """
        before = dict(reversed(log[recording.log :]))
        files_before = dict(reversed(files_log[recording.files_log :]))
        changed = tuple(before)
        passage = Passage(
            changed,
            tuple([macros[name] for name in changed]),
            {path: entered[path] for path in recording.files if path in files_before},
            recording.notes,
            recording.missing,
            recording.inclusions,
            recording.depth,
        )
        if recording.sound:
            known = self._kept(recording)
            start = tuple([files_before[p] if p in files_before else entered.get(p) for p in known.files])
            states = tuple([before[n] if n in before else macros.get(n) for n in known.names])
            known.starts.add(start)
            known.by_state[start, states] = passage
        return passage

    def _kept(self, recording: Recording) -> Known:
        rows = self._known.setdefault(recording.key, [])
        for known in rows:
            if recording.names.issubset(known.names) and recording.files.keys() <= set(known.files):
                return known
        known = Known(tuple(recording.names), tuple(recording.files), {}, set())
        rows.insert(0, known)
        del rows[_KEPT:]
        return known
