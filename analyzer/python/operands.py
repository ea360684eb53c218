"""What a kernel in Triton surely keeps in shared memory at once: the operands of its multiplications.

The shapes of its blocks are followed through its code with the numbers that it is launched with. What a loop
multiplies and has loaded before stays in shared memory as long as the loop runs; beside it lies what one
multiplication has loaded in the loop. All else (buffers of a pipeline, results that change their layout)
comes on top and is not counted.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import prod
from typing import Any

from analyzer import data

Shape = tuple[int, ...]
Known = bool | None
"""What a condition is when the kernel is compiled; ``None``: that is decided only when it runs."""
RUNS: frozenset[Known] = frozenset([None])
ANY: frozenset[Known] = frozenset([True, False, None])


@dataclass(frozen=True, slots=True)
class Load:
    """A block that is read from memory: where in the code, and in which loops."""

    node: ast.Call
    loops: tuple[ast.AST, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Block:
    """A value of the kernel.

    ``shape``: of a scalar it is empty; ``None`` if it is not understood. ``number``: what it is if that is
    known when the kernel is compiled; ``truths``: what it may be as a condition. ``load``: it is the block
    that was read there, as it was read.
    """

    shape: Shape | None = ()
    number: int | None = None
    truths: frozenset[Known] = RUNS
    load: Load | None = None
    items: tuple[Block, ...] | None = None


UNKNOWN = Block(None, truths=ANY)


def constant(number: int) -> Block:
    """A number that is known when the kernel is compiled."""
    return Block((), number, frozenset([bool(number)]))


@cache
def _language() -> dict[str, Any]:
    table: dict[str, Any] = data.table("resources")["triton"]
    return table


def kernels() -> frozenset[str]:
    """The dotted names of the decorators that make kernels."""
    return frozenset(_language()["kernel"])


def held(
    kernel: ast.FunctionDef,
    body: Sequence[ast.stmt],
    numbers: Mapping[str, int],
    named: Callable[[str], str | None],
) -> int:
    """The elements that surely are in shared memory at once, at least; none where nothing is understood.

    Args:
        kernel: its definition.
        body: its statements.
        numbers: the parameters that are known when it is compiled.
        named: the dotted name of what a name of its module stands for outside the tree.
    """
    reader = _Reader(named)
    for parameter in [*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs]:
        name = parameter.arg
        if name in numbers:
            reader.blocks[name] = constant(numbers[name])
        else:  # any argument may be compiled in: a None, a 1
            reader.blocks[name] = Block((), None, ANY)
    reader.run(body)
    return max((reader.held(loop) for loop in reader.outermost), default=0)


@dataclass(frozen=True, slots=True)
class _Multiplication:
    loops: tuple[ast.AST, ...]
    operands: tuple[Load, ...]


class _Reader:
    """Follows the blocks of one kernel. ``sure``: what is read now is compiled on every way."""

    def __init__(self, named: Callable[[str], str | None]) -> None:
        self.named = named
        self.blocks: dict[str, Block] = {}
        self.loops: tuple[ast.AST, ...] = ()
        self.sure = True
        self.multiplications: list[_Multiplication] = []

    @property
    def outermost(self) -> list[ast.AST]:
        """The loops that stand in no other and multiply."""
        return list(dict.fromkeys(found.loops[0] for found in self.multiplications if found.loops))

    def held(self, loop: ast.AST) -> int:
        """The elements that a loop keeps."""
        here = [found for found in self.multiplications if found.loops[:1] == (loop,)]
        before = {id(load.node): load for found in here for load in found.operands if loop not in load.loops}
        within = [
            sum(prod(load.shape) for load in found.operands if id(load.node) not in before) for found in here
        ]
        return sum(prod(load.shape) for load in before.values()) + max(within)

    # Statements.

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            value = self.value(node.value)
            for target in node.targets:
                self._bind(target, value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind(node.target, self.value(node.value))
        elif isinstance(node, ast.AugAssign):
            both = ast.BinOp(left=node.target, op=node.op, right=node.value)
            self._bind(node.target, self.value(both))
        elif isinstance(node, ast.Expr):
            self.value(node.value)
        elif isinstance(node, ast.If):
            self._branch(node)
        elif isinstance(node, (ast.For, ast.While)):
            self._loop(node)
        elif isinstance(node, ast.With):
            self.run(node.body)
        elif not isinstance(node, (ast.Pass, ast.Assert, ast.Return)):
            self._forget(node)

    def _bind(self, target: ast.expr, value: Block) -> None:
        if isinstance(target, ast.Name):
            self.blocks[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = value.items
            if items is None or len(items) != len(target.elts):
                items = (UNKNOWN,) * len(target.elts)
            for each, item in zip(target.elts, items, strict=True):
                self._bind(each, item)

    def _forget(self, node: ast.AST) -> None:
        for name in _bound(node):
            self.blocks[name] = UNKNOWN

    def _branch(self, node: ast.If) -> None:
        truths = self.value(node.test).truths
        start, sure = self.blocks, self.sure
        ends = []
        for body, way in ((node.body, True), (node.orelse, False)):
            if truths & {way, None}:
                self.blocks = dict(start)
                self.sure = sure and (not way) not in truths
                self.run(body)
                ends.append(self.blocks)
        self.sure = sure
        self.blocks = ends[0] if len(ends) == 1 else _joined(*ends)

    def _loop(self, node: ast.For | ast.While) -> None:
        changed = {name for statement in node.body for name in _bound(statement)}
        for name in changed & self.blocks.keys():  # on a later turn it is what the last one left
            self.blocks[name] = replace(self.blocks[name], number=None, truths=RUNS, load=None)
        if isinstance(node, ast.For):
            self._bind(node.target, Block())
        else:
            self.value(node.test)
        self.loops = (*self.loops, node)
        self.run(node.body)
        self.loops = self.loops[:-1]

    # Expressions.

    def value(self, node: ast.expr) -> Block:
        """What an expression gives; multiplications in it are noted."""
        read = _READ.get(type(node))
        return read(self, node) if read is not None else UNKNOWN

    def _constant(self, node: ast.Constant) -> Block:
        if isinstance(node.value, int):
            return constant(node.value)
        return Block((), None, frozenset([False])) if node.value is None else Block()

    def _name(self, node: ast.Name) -> Block:
        return self.blocks.get(node.id, UNKNOWN)

    def _items(self, node: ast.Tuple | ast.List) -> Block:
        return Block(None, items=tuple(map(self.value, node.elts)))

    def _operation(self, node: ast.BinOp) -> Block:
        return _binary(node.op, self.value(node.left), self.value(node.right))

    def _attribute(self, node: ast.Attribute) -> Block:
        return _transposed(self.value(node.value)) if node.attr == "T" else UNKNOWN

    def _unary(self, node: ast.UnaryOp) -> Block:
        inner = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return Block((), None, frozenset(None if one is None else not one for one in inner.truths))
        if isinstance(node.op, ast.USub) and inner.number is not None:
            return constant(-inner.number)
        return replace(inner, number=None, load=None, items=None)

    def _boolean(self, node: ast.BoolOp) -> Block:
        decides = isinstance(node.op, ast.Or)
        parts = [self.value(part).truths for part in node.values]
        found = {
            decides if decides in way else None if None in way else not decides for way in product(*parts)
        }
        return Block((), None, frozenset(found))

    def _compare(self, node: ast.Compare) -> Block:
        sides = [self.value(node.left), *map(self.value, node.comparators)]
        found = _COMPARED.get(type(node.ops[0]))
        if len(sides) == 2 and all(side.shape == () for side in sides):
            left, right = sides
            if found is not None and left.number is not None and right.number is not None:
                return constant(found(left.number, right.number))
        return Block(_broadcast(sides), None, _decided(sides))

    def _choice(self, node: ast.IfExp) -> Block:
        truths = self.value(node.test).truths
        if truths == {True}:
            return self.value(node.body)
        if truths == {False}:
            return self.value(node.orelse)
        return _either(self.value(node.body), self.value(node.orelse))

    def _subscript(self, node: ast.Subscript) -> Block:
        inner = self.value(node.value)
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if inner.items is not None:
            key = self.value(keys[0]).number
            return inner.items[key] if key is not None and key < len(inner.items) else UNKNOWN
        if inner.shape is None:
            return UNKNOWN
        left = list(inner.shape)
        shape: list[int] = []
        for part in keys:
            if isinstance(part, ast.Constant) and part.value is None:
                shape.append(1)
            elif isinstance(part, ast.Slice) and left:
                shape.append(left.pop(0))
            else:
                return UNKNOWN
        return Block((*shape, *left))

    def _call(self, node: ast.Call) -> Block:
        function = node.func
        if isinstance(function, ast.Attribute) and self._path(function) is None:
            return self._method(node, function)
        path = self._path(function)
        name = (path or "").removeprefix(_language()["module"] + ".")
        arguments = list(map(self.value, node.args))
        keywords = {word.arg: self.value(word.value) for word in node.keywords if word.arg is not None}
        if name == "arange" and len(arguments) == 2:
            first, last = (argument.number for argument in arguments)
            return Block((last - first,)) if first is not None and last is not None else UNKNOWN
        if name in ("zeros", "full"):
            return self._filled(arguments, keywords)
        if name == "make_block_ptr":
            return self._filled([], {"shape": keywords.get("block_shape", UNKNOWN)})
        if name == "advance" and arguments:
            return arguments[0]
        if name == "load" and arguments:
            shape = arguments[0].shape
            return Block(shape, load=Load(node, self.loops, shape) if shape else None)
        if name == "trans" and len(arguments) == 1:
            return _transposed(arguments[0])
        if name == "dot" and len(arguments) >= 2:
            return self._multiplied(*arguments[:2])
        if name in _language()["place"]:
            return Block()
        every = [*arguments, *keywords.values()]
        elementwise = name in _language()["elementwise"]
        return Block(_broadcast(every) if elementwise else None, None, _decided(every))

    def _method(self, node: ast.Call, function: ast.Attribute) -> Block:
        inner = self.value(function.value)
        for argument in node.args:
            self.value(argument)
        if function.attr == "to":
            return replace(inner, number=None)
        return UNKNOWN

    def _filled(self, arguments: Sequence[Block], keywords: Mapping[str, Block]) -> Block:
        given = keywords.get("shape", arguments[0] if arguments else UNKNOWN)
        sizes = [item.number for item in given.items or ()]
        shape = tuple(size for size in sizes if size is not None)
        return Block(shape) if shape and len(shape) == len(sizes) else UNKNOWN

    def _multiplied(self, left: Block, right: Block) -> Block:
        loads = tuple({id(each.load.node): each.load for each in (left, right) if each.load}.values())
        if self.sure and loads:
            self.multiplications.append(_Multiplication(self.loops, loads))
        if left.shape is None or right.shape is None or len(left.shape) != 2 or len(right.shape) != 2:
            return UNKNOWN
        return Block((left.shape[0], right.shape[1]))

    def _path(self, node: ast.expr) -> str | None:
        """The dotted name of a function outside the tree."""
        if isinstance(node, ast.Name):
            return None if node.id in self.blocks else self.named(node.id)
        if isinstance(node, ast.Attribute):
            outer = self._path(node.value)
            return f"{outer}.{node.attr}" if outer is not None else None
        return None


def _bound(node: ast.AST) -> set[str]:
    names = (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _joined(left: Mapping[str, Block], right: Mapping[str, Block]) -> dict[str, Block]:
    return {
        name: _either(left.get(name, UNKNOWN), right.get(name, UNKNOWN))
        for name in dict.fromkeys([*left, *right])
    }


def _either(left: Block, right: Block) -> Block:
    if left == right:
        return left
    return Block(left.shape if left.shape == right.shape else None, None, left.truths | right.truths)


def _broadcast(blocks: Sequence[Block]) -> Shape | None:
    """The shape of what is worked out element by element."""
    shape: Shape = ()
    for block in blocks:
        if block.shape is None:
            return None
        long, short = (shape, block.shape) if len(shape) >= len(block.shape) else (block.shape, shape)
        short = (1,) * (len(long) - len(short)) + short
        if any(1 not in (a, b) and a != b for a, b in zip(long, short, strict=True)):
            return None
        shape = tuple(map(max, long, short))
    return shape


def _transposed(block: Block) -> Block:
    return replace(block, shape=block.shape[::-1] if block.shape is not None else None)


def _binary(kind: ast.operator, left: Block, right: Block) -> Block:
    found = _WORKED_OUT.get(type(kind))
    if found is not None and left.number is not None and right.number is not None:
        if right.number > 0 or kind.__class__ not in (ast.FloorDiv, ast.Mod):
            return constant(found(left.number, right.number))
        return UNKNOWN
    return Block(_broadcast([left, right]), None, _decided([left, right]))


def _decided(parts: Sequence[Block]) -> frozenset[Known]:
    """What a condition on parts may be: what is known of none of them is decided when the kernel runs."""
    return RUNS if any(part.truths == RUNS for part in parts) else ANY


_WORKED_OUT: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_READ: Mapping[type[ast.expr], Callable[..., Block]] = {
    ast.Constant: _Reader._constant,
    ast.Name: _Reader._name,
    ast.Tuple: _Reader._items,
    ast.List: _Reader._items,
    ast.BinOp: _Reader._operation,
    ast.UnaryOp: _Reader._unary,
    ast.BoolOp: _Reader._boolean,
    ast.Compare: _Reader._compare,
    ast.IfExp: _Reader._choice,
    ast.Subscript: _Reader._subscript,
    ast.Call: _Reader._call,
    ast.Attribute: _Reader._attribute,
}
