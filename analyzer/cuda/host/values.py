"""Values of C++ expressions on every architecture at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Item = int | None
"""A number on one architecture; None where something else than the architecture decides."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A number on each architecture, in the order of the mask's bits."""

    items: tuple[Item, ...]

    @property
    def varies(self) -> bool:
        """Whether the architecture has a part in it."""
        return len(set(self.items)) > 1


@dataclass(frozen=True, slots=True)
class Properties:
    """An object that holds the properties of the device."""


@dataclass(frozen=True, slots=True)
class Several:
    """A pair, tuple or braced list."""

    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Possible:
    """One of a few numbers on each architecture, which of them being free; None where nothing is known."""

    items: tuple[frozenset[int] | None, ...]


@dataclass(frozen=True, slots=True)
class Free:
    """Anything that is not followed: the architecture has no part in it, as far as is known."""


Value = Numbers | Properties | Several | Possible | Free
FREE = Free()


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition: the masks of architectures on which it holds for certain, and on which it does not."""

    true: int
    false: int

    @property
    def negated(self) -> Truth:
        """The opposite condition."""
        return Truth(self.false, self.true)


def truth(value: Value) -> Truth:
    """A value as a condition."""
    if not isinstance(value, Numbers):
        return Truth(0, 0)
    true = sum(1 << i for i, item in enumerate(value.items) if item is not None and item != 0)
    false = sum(1 << i for i, item in enumerate(value.items) if item == 0)
    return Truth(true, false)


def numbers(condition: Truth, count: int) -> Numbers:
    """A condition as a number."""
    return Numbers(
        tuple(1 if condition.true >> i & 1 else 0 if condition.false >> i & 1 else None for i in range(count))
    )


def both(one: Truth, other: Truth) -> Truth:
    """Kleene's conjunction."""
    return Truth(one.true & other.true, one.false | other.false)


def either(one: Truth, other: Truth) -> Truth:
    """Kleene's disjunction."""
    return Truth(one.true | other.true, one.false & other.false)


def _divided(one: int, other: int) -> int:
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


def _remainder(one: int, other: int) -> int:
    return one - other * _divided(one, other)


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": _remainder,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": lambda one, other: one << other if 0 <= other < 64 else 0,
    ">>": lambda one, other: one >> other if 0 <= other < 64 else 0,
}


def computed(sign: str, one: Value, other: Value) -> Value:
    """The result of a binary operator that always evaluates both sides."""
    work = _OPERATORS.get(sign)
    if work is not None and (isinstance(one, Possible) or isinstance(other, Possible)):
        return _of_each(work, sign, one, other)
    if work is None or not isinstance(one, Numbers) or not isinstance(other, Numbers):
        return FREE
    return Numbers(tuple(_item(work, sign, a, b) for a, b in zip(one.items, other.items, strict=True)))


def _item(work: Callable[[int, int], int], sign: str, one: Item, other: Item) -> Item:
    if one is None or other is None or (sign in "/%" and other == 0):
        return None
    return int(work(one, other))


#: How many numbers are kept apart.
_SEVERAL = 16


def _of_each(work: Callable[[int, int], int], sign: str, one: Value, other: Value) -> Value:
    left, right = possible(one), possible(other)
    if left is None or right is None:
        return FREE
    items: list[frozenset[int] | None] = []
    for a, b in zip(left, right, strict=True):
        known = a is not None and b is not None and len(a) * len(b) <= _SEVERAL
        found = {_item(work, sign, x, y) for x in a or () for y in b or ()} if known else {None}
        items.append(None if None in found else frozenset(item for item in found if item is not None))
    return Possible(tuple(items))


def possible(value: Value) -> tuple[frozenset[int] | None, ...] | None:
    """The numbers that a value may be on each architecture; None of what is no number."""
    if isinstance(value, Possible):
        return value.items
    if isinstance(value, Numbers):
        return tuple(None if item is None else frozenset([item]) for item in value.items)
    return None


def certain(value: Value) -> Value:
    """What of a value is one number; where it may be several, that is free."""
    if not isinstance(value, Possible):
        return value
    items = tuple(next(iter(item)) if item is not None and len(item) == 1 else None for item in value.items)
    return Numbers(items) if any(item is not None for item in items) else FREE


def chosen(condition: Truth, one: Value, other: Value) -> Value:
    """``one`` where the condition holds, ``other`` where it does not; free where it is and they differ."""
    if one == other:
        return one
    if isinstance(one, Several) and isinstance(other, Several) and len(one.parts) == len(other.parts):
        return Several(tuple(chosen(condition, a, b) for a, b in zip(one.parts, other.parts, strict=True)))
    left, right = _items(one, other), _items(other, one)
    if left is None or right is None:
        return FREE
    items: list[Item] = []
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        items.append(a if condition.true >> i & 1 else b if condition.false >> i & 1 or a == b else None)
    return Numbers(tuple(items)) if any(item is not None for item in items) else FREE


def _items(value: Value, other: Value) -> tuple[Item, ...] | None:
    if isinstance(value, Numbers):
        return value.items
    if isinstance(value, Free) and isinstance(other, Numbers):
        return (None,) * len(other.items)
    return None


def joined(rows: Sequence[tuple[int, Value]], count: int) -> Value:
    """What a function returns, whose returns are met under these masks."""
    if not rows:
        return FREE
    first = rows[0][1]
    if all(value == first for _, value in rows):
        return first
    shapes = {len(value.parts) if isinstance(value, Several) else -1 for _, value in rows}
    if len(shapes) == 1 and -1 not in shapes:
        size = shapes.pop()
        return Several(
            tuple(
                joined([(m, v.parts[i]) for m, v in rows if isinstance(v, Several)], count)
                for i in range(size)
            )
        )
    items = [_agreed(value_at(value, i) for mask, value in rows if mask >> i & 1) for i in range(count)]
    return Numbers(tuple(items)) if any(item is not None for item in items) else FREE


def value_at(value: Value, index: int) -> Item:
    """The number on one architecture."""
    return value.items[index] if isinstance(value, Numbers) else None


def _agreed(items: Iterable[Item]) -> Item:
    found = set(items)
    return found.pop() if len(found) == 1 else None


def varies(value: Value) -> bool:
    """Whether the architecture has a part in a value."""
    if isinstance(value, Several):
        return any(varies(part) for part in value.parts)
    return isinstance(value, Properties) or (isinstance(value, Numbers) and value.varies)
