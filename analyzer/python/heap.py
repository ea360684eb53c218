"""What the evaluated code changes in place, with a journal: branches are undone, and joined at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from analyzer.python.values import (
    Choice,
    Class,
    Dict,
    Free,
    Function,
    Instance,
    Lazy,
    List,
    Provenance,
    Scope,
    Set,
    Unknown,
    Value,
    born,
    combine,
    is_constant,
    join,
    same,
)

Table = Instance | Class | Function | Scope
"""What holds values by name."""
Container = List | Dict | Set

Place = tuple[Any, str | None]
"""A table and a name in it, or a container (no name): all that it holds."""
Location = tuple[int, str | None]
"""The same by identity."""
Trail = list[tuple[Any, str | None, Any, Any]]
"""Changes: where, and the values before and after."""
Begun = tuple[int, int, int]
"""Where a way began: positions in the journal and among the pending ways, and the time."""

MISSING = object()
"""The state of a name that is not set."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a container held at some time."""

    items: Any
    open: bool
    maybe: frozenset[Any]


@dataclass(slots=True, eq=False)
class Way:
    """How far one of several ways has come: what it changed since ``mark``, a position in the journal.

    ``blame``: the provenance of the condition that led here, if that was not understood.
    """

    mark: int
    changes: dict[Location, tuple[Any, str | None, Any]]
    blame: Provenance | None = None


@dataclass(slots=True)
class Heap:
    """The journal of one machine. ``version`` grows with every change."""

    journal: list[tuple[Any, str | None, Any]] = field(default_factory=list)
    pending: list[Way] = field(default_factory=list)
    """Ways that left the straight course (by a return, say) and are joined later."""
    trails: list[Trail] = field(default_factory=list)
    """For each open ``try``: all that was changed in it, also on ways that were undone."""
    marks: int = 0
    version: int = 0
    clock: int = 0
    """When the last way began or ended: what was made after it need not be in the journal."""
    touched: set[int] = field(default_factory=set)
    """Containers that are in the journal since then."""

    # Changes.

    def store(self, owner: Table, name: str, value: Value | None) -> None:
        """Set a name of a table; ``None`` removes it."""
        names = table(owner)
        before = names.get(name, MISSING)
        self.version += 1
        if (self.marks or self.pending) and owner.made < self.clock:
            self.journal.append((owner, name, before))
        for trail in self.trails:
            trail.append((owner, name, before, value))
        if value is None:
            names.pop(name, None)
        else:
            names[name] = value

    def change(self, container: Container) -> None:
        """To be called before a container is changed."""
        self.version += 1
        for trail in self.trails:
            trail.append((container, None, None, None))
        old = container.made < self.clock
        if old and (self.marks or self.pending) and id(container) not in self.touched:
            self.touched.add(id(container))
            self.journal.append((container, None, _content(container)))

    # Ways.

    def mark(self) -> Begun:
        """Begin a way that :meth:`undo` ends."""
        self.marks += 1
        self._tick()
        return len(self.journal), len(self.pending), self.clock

    def _tick(self) -> None:
        self.clock = born()
        self.touched = set()

    def undo(self, begun: Begun, local: Scope) -> Way:
        """End a way: take back what it changed, and tell it.

        The names of ``local`` are left alone, and what was made on the way.
        """
        mark, pending, clock = begun
        if len(self.journal) == mark and len(self.pending) == pending:  # as of nearly all expressions
            return self._end(Way(mark, {}))
        entries = [entry for entry in self.journal[mark:] if entry[0] is not local and entry[0].made < clock]
        for way in self.pending[pending:]:
            self._rebase(way, mark, entries)
        first: dict[Location, tuple[Any, str | None, Any]] = {}
        for owner, name, before in entries:
            first.setdefault((id(owner), name), (owner, name, before))
        changes = {
            location: (owner, name, _state(owner, name)) for location, (owner, name, _) in first.items()
        }
        for owner, name, before in first.values():
            _restore(owner, name, before)
        del self.journal[mark:]
        return self._end(Way(mark, changes))

    def _end(self, way: Way) -> Way:
        self.marks -= 1
        self.version += 1
        self._tick()
        return way

    def leave(self, way: Way) -> Way:
        """Keep a way that left the straight course until it is joined."""
        self.pending.append(way)
        return way

    def join(self, ways: Iterable[Way], current: bool) -> list[Place]:
        """Let ways meet, with the present state as one more if ``current``; gives back what that changed."""
        met = list(ways)
        locations: dict[Location, tuple[Any, str | None]] = {}
        for way in met:
            for location, (owner, name, _) in way.changes.items():
                locations[location] = (owner, name)
        if met:
            for owner, name, _ in self.journal[min(way.mark for way in met) :]:
                locations[id(owner), name] = (owner, name)
        blame = combine(*(way.blame for way in met)) if locations else None
        planned = []
        for location, (owner, name) in locations.items():
            states = [
                way.changes[location][2] if location in way.changes else self._before(way.mark, owner, name)
                for way in met
            ]
            if current:
                states.append(_state(owner, name))
            planned.append((owner, name, _met(owner, name, states, blame)))
        for way in met:
            self._forget(way)
        changed = [(owner, name) for owner, name, state in planned if not _equal(_state(owner, name), state)]
        for owner, name, state in planned:
            self._write(owner, name, state)
        if not self.marks and not self.pending:
            self.journal.clear()
        return changed

    def blur(self, trail: Trail, since: int) -> None:
        """Let everything on a trail that was made before a time be as it was at any time."""
        values: dict[Location, list[Value]] = {}
        owners: dict[Location, tuple[Any, str | None]] = {}
        for owner, name, before, after in trail:
            if owner.made > since:
                continue
            location = (id(owner), name)
            owners[location] = (owner, name)
            found = values.setdefault(location, [])
            found.extend(state for state in (before, after) if isinstance(state, Value))
        for location, (owner, name) in owners.items():
            if name is None:
                loosen(self, owner)
            elif values[location]:
                self.store(owner, name, join_states(values[location]))

    def _rebase(self, way: Way, mark: int, entries: list[tuple[Any, str | None, Any]]) -> None:
        """Tell a pending way from an earlier position in the journal."""
        for owner, name, _ in entries:
            location = (id(owner), name)
            if location not in way.changes:
                way.changes[location] = (owner, name, self._before(way.mark, owner, name))
        way.mark = mark

    def _before(self, mark: int, owner: Any, name: str | None) -> Any:
        """The state of a location when the journal was as long as ``mark``."""
        for entry in self.journal[mark:]:
            if entry[0] is owner and entry[1] == name:
                return entry[2]
        return _state(owner, name)

    def _forget(self, way: Way) -> None:
        for position, known in enumerate(self.pending):
            if known is way:
                del self.pending[position]
                return

    def _write(self, owner: Any, name: str | None, state: Any) -> None:
        if name is None:
            if not _equal(_state(owner, name), state):
                self.change(owner)
                _restore(owner, name, state)
        elif state is MISSING:
            self.store(owner, name, None)
        elif table(owner).get(name) is not state:
            self.store(owner, name, state)


def loosen(heap: Heap, container: Container) -> None:
    """Let a container hold something other than what is known of it."""
    heap.change(container)
    if isinstance(container, Dict):
        for key, (known, value) in container.items.items():
            if _open_already(value):
                continue
            container.items[key] = (known, join([value, Value(Free("may be replaced"))]))
        container.maybe = frozenset(container.items)
    container.open = True


def _open_already(value: Value) -> bool:
    """Whether a value may be one of which nothing is known."""
    options = value.data.options if isinstance(value.data, Choice) else (value,)
    return any(isinstance(option.data, Free) for option in options)


def table(owner: Table) -> dict[str, Value]:
    """The values of a table by name."""
    return owner.names if isinstance(owner, Scope) else owner.attributes


def _content(container: Container) -> Content:
    maybe = container.maybe if isinstance(container, Dict) else frozenset()
    return Content(container.items.copy(), container.open, maybe)


def _state(owner: Any, name: str | None) -> Any:
    return _content(owner) if name is None else table(owner).get(name, MISSING)


def _restore(owner: Any, name: str | None, state: Any) -> None:
    if name is None:
        owner.items, owner.open = state.items.copy(), state.open
        if isinstance(owner, Dict):
            owner.maybe = state.maybe
    elif state is MISSING:
        table(owner).pop(name, None)
    else:
        table(owner)[name] = state


def _met(owner: Any, name: str | None, states: list[Any], blame: Provenance | None) -> Any:
    """The state of a location after ways met on which it had these states."""
    first = states[0]
    if all(_equal(state, first) for state in states[1:]):
        return first
    if name is None:
        met = _met_lists(states) if isinstance(owner, List) else _met_keyed(owner, states)
        return met if blame is None else _blamed_content(met, blame)
    known = [state for state in states if state is not MISSING]
    if len(known) < len(states) and isinstance(owner, Instance):
        inherited = _inherited(owner, name)
        if inherited is not None:
            known.append(inherited)
    joined = join_states(known)
    if blame is not None:
        return Value(Unknown("set under a condition that is not understood"), combine(joined.source, blame))
    return joined


def _inherited(owner: Instance, name: str) -> Value | None:
    """What an attribute of the class gives where the object has none."""
    pending: list[Any] = [owner.of]
    for of in pending:
        if isinstance(of, Class):
            if name in of.attributes:
                found = of.attributes[name]
                return found if not isinstance(found.data, Lazy) else Value(Free("an attribute of the class"))
            pending.extend(base.data for base in of.bases)
    return None


def join_states(values: list[Value]) -> Value:
    """A value that is one of these; names that are not computed yet stay so."""
    lazy = [value for value in values if isinstance(value.data, Lazy)]
    if lazy:
        return lazy[0]
    return join(values)


def _blamed_content(content: Content, blame: Provenance) -> Content:
    """A content of which a condition decided that is not understood."""
    unknown = Unknown("changed under a condition that is not understood")
    if isinstance(content.items, list):
        return Content(
            [Value(unknown, combine(item.source, blame)) for item in content.items], True, content.maybe
        )
    return content


def _met_lists(states: list[Content]) -> Content:
    if len({len(state.items) for state in states}) == 1:
        rows = zip(*(state.items for state in states), strict=True)
        return Content([join(list(row)) for row in rows], any(state.open for state in states), frozenset())
    longest = max(states, key=lambda state: len(state.items)).items
    extra: list[Value] = []
    seen: set[Any] = set()
    for state in states:
        items = state.items
        if items == longest[: len(items)]:
            continue  # the same objects from the start on: nothing was put in
        seen = seen or {_mark(item) for item in longest}
        for item in items:
            mark = _mark(item)
            if mark not in seen:
                seen.add(mark)
                extra.append(item)
    return Content([*longest, *extra], True, frozenset())


def _mark(item: Value) -> Any:
    """Equal for values that are surely the same: constants by value, objects by identity.

    Of those of which nothing is known and that do not hang on the device, one is as good as another.
    """
    data = item.data
    if isinstance(data, Free) and not item.tainted:
        return Free
    if is_constant(data) and not isinstance(data, slice):
        return type(data), data
    return id(data)


def _met_keyed(owner: Dict | Set, states: list[Content]) -> Content:
    is_open = any(state.open for state in states)
    keys = dict.fromkeys(key for state in states for key in state.items)
    maybe = {key for key in keys if any(key not in state.items or key in state.maybe for state in states)}
    if isinstance(owner, Set):
        members = {key: _member(states, key) for key in keys if key not in maybe}
        return Content(members, is_open or bool(maybe), frozenset())
    items = {}
    for key in keys:
        pairs = [state.items[key] for state in states if key in state.items]
        if all([pair is pairs[0] for pair in pairs]):  # noqa: C419
            items[key] = pairs[0]
            continue
        items[key] = (pairs[0][0], join_states([value for _, value in pairs]))
    return Content(items, is_open or bool(maybe), frozenset(maybe))


def _member(states: list[Content], key: Any) -> Value:
    found: Value = next(state.items[key] for state in states if key in state.items)
    return found


def _equal(left: Any, right: Any) -> bool:
    """Surely the same state."""
    if left is right:
        return True
    if isinstance(left, Content) and isinstance(right, Content):
        if left.open != right.open or left.maybe != right.maybe or len(left.items) != len(right.items):
            return False
        if isinstance(left.items, list):
            return all(same(a, b) for a, b in zip(left.items, right.items, strict=True))
        return left.items.keys() == right.items.keys() and all(
            same(_value(a), _value(right.items[key])) for key, a in left.items.items()
        )
    return isinstance(left, Value) and isinstance(right, Value) and same(left, right)


def _value(entry: Any) -> Value:
    found: Value = entry[1] if isinstance(entry, tuple) else entry
    return found
