"""What the branches of a decision do: raise, log, return, assign, call; read from the syntax tree."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from analyzer import data
from analyzer.python import flow, statements
from analyzer.python.polarity import negated, ordering

#: Letters of an expression that are shown.
LETTERS = 80


@dataclass(frozen=True, slots=True)
class Side:
    """One way out of a decision, as text and facts.

    ``empty``: no statement stands on it. ``action``: what it does, in a few words; ``message``: what it
    raises with; ``stores``: attributes that it assigns, ``sets``: those that it surely gives a text or true;
    ``answers``: it only returns false or nothing, ``explains``: a sentence.
    ``mark``: how :func:`~analyzer.python.flow.mark` knows it; ``branches``: the ways into which it divides
    at once, two by the test at ``asks`` (line and column). ``rest``: it is what follows a side that leaves.
    ``regrets``: it tells the user that something is left out or replaced. ``tells``: it does nothing but that
    or the like. ``sieves``: all that it does is to try something and to refuse where that fails.
    ``skips``: it only passes over the rest of a loop's turn. ``calls``: where it does nothing but make calls
    for their effect, these.
    """

    empty: bool = False
    raises: bool = False
    leaves: bool = False
    announces: bool = False
    action: str = ""
    message: str = ""
    stores: tuple[str, ...] = ()
    sets: tuple[tuple[str, str | bool], ...] = ()
    line: int = 0
    mark: int = 0
    answers: bool = False
    explains: bool = False
    rest: bool = False
    regrets: bool = False
    tells: bool = False
    sieves: bool = False
    skips: bool = False
    calls: tuple[str, ...] = ()
    branches: tuple[Side, ...] = ()
    asks: tuple[int, int] | None = None


NOTHING = Side(empty=True)


@dataclass(frozen=True, slots=True)
class Shape:
    """A decision as it is written: its code, its two sides, whether it is written in the negative.

    ``chain``: the first condition of the ``if``/``elif`` chain that it is part of, with its position among
    equal ones of the function; empty outside a chain. ``forwards``: it does nothing but turn one truth value
    into another, or nothing at all. ``ordered``: it asks for more or less, and so names no architecture.
    ``told``: the next statement tells the user what came of it. ``always``: the function comes to it whatever
    else it decides, if it does not end before.
    """

    code: str
    then: Side
    other: Side
    negative: bool
    chain: str = ""
    forwards: bool = False
    ordered: bool = False
    told: bool = False
    always: bool = False


@cache
def announcing() -> frozenset[str]:
    """Names of functions and methods that tell the user something."""
    return frozenset(data.table("contracts")["announce"]["names"])


def shape(kind: str, node: ast.AST, owner: ast.AST, body: list[ast.stmt]) -> Shape:
    """The shape of a decision; arguments as of :func:`_shape`."""
    return replace(_shape(kind, node, owner, body), always=_always(body, owner))


def _always(body: list[ast.stmt], owner: ast.AST) -> bool:
    """Whether a statement stands in a block itself, or in a ``try`` or ``with`` that does."""
    return any(
        statement is owner or (isinstance(statement, (ast.Try, ast.With)) and _always(statement.body, owner))
        for statement in body
    )


def _shape(kind: str, node: ast.AST, owner: ast.AST, body: list[ast.stmt]) -> Shape:
    """The shape of a decision.

    Args:
        kind: as recorded (``if``, ``assert``, ``ifexp``, ``bool``, ...).
        node: the condition.
        owner: the statement or expression that decides by it.
        body: the statements of the function that holds it.
    """
    code = ast.unparse(node)
    negative = negated(node)
    if isinstance(owner, ast.If):
        then, other = side(owner.body, owner), side(owner.orelse, owner, after(body, owner))
        if other.empty and then.leaves:
            other = rest(after(body, owner), owner)
        elif then.empty and not other.empty and other.leaves:
            then = rest(after(body, owner), owner)
        then, other = _refusing(then, owner.body, body), _refusing(other, owner.orelse, body)
        then = _caught(then, _kind(owner.body), owner, body)
        other = _caught(other, _kind(owner.orelse), owner, body)
        forwarding = forwards(owner.body, owner.orelse)
        told = _told(owner, after(body, owner))
        return Shape(code, then, other, negative, chain(body, owner), forwarding, ordering(node), told)
    if isinstance(owner, ast.Match):
        return _case(node, owner, body)
    if isinstance(owner, ast.Assert):
        message = _said(owner.msg) if owner.msg is not None else ""
        raising = _caught(_raising("AssertionError", owner.lineno, message), "AssertionError", owner, body)
        return Shape(code, rest(after(body, owner), owner), raising, negative)
    if isinstance(owner, ast.IfExp):
        constants = isinstance(owner.body, ast.Constant) and isinstance(owner.orelse, ast.Constant)
        boolean = constants and {type(s.value) for s in (owner.body, owner.orelse)} == {bool}  # type: ignore[attr-defined]
        then, other = _value_side(owner.body), _value_side(owner.orelse)
        return Shape(ast.unparse(owner), then, other, negative, "", boolean, ordering(node))
    if kind == "lookup":
        missing = _caught(_raising("KeyError", getattr(owner, "lineno", 0), ""), "KeyError", owner, body)
        return Shape(code, Side(), missing, False)
    return Shape(code, NOTHING, NOTHING, negative)


def _raising(kind: str, line: int, message: str) -> Side:
    return Side(raises=True, leaves=True, announces=True, action=f"raises {kind}", message=message, line=line)


def _refusing(found: Side, block: list[ast.stmt], body: list[ast.stmt]) -> Side:
    """A side that does nothing but put something into a list for which the function raises further down."""
    names = {_put_into(statement) for statement in block}
    if len(names) != 1 or None in names:
        return found
    for statement in _walk(body):
        if (
            isinstance(statement, ast.If)
            and ast.unparse(statement.test) in names
            and flow.raises(statement.body)
        ):
            return replace(found, raises=True, announces=True, message=_message(statement.body))
    return found


def _put_into(statement: ast.stmt) -> str | None:
    """The local list or set that a statement puts something into."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    owner = call.func.value
    return owner.id if isinstance(owner, ast.Name) and call.func.attr in ("append", "add") else None


def _caught(found: Side, kind: str, owner: ast.AST, body: list[ast.stmt]) -> Side:
    """A side that raises, or what the handler does that takes its exception in the same function."""
    if not found.raises:
        return found
    handler = _handler(body, owner, kind)
    if handler is None:
        return found
    told = side(handler.body, ast.Pass(lineno=handler.lineno))
    return replace(told, mark=0, branches=(), asks=None)


def _handler(body: list[ast.stmt], owner: ast.AST, kind: str) -> ast.ExceptHandler | None:
    """The handler of the innermost ``try`` around a place that takes an exception of that class."""
    for statement in body:
        for block in blocks(statement):
            if not _holds(block, owner):
                continue
            found = _handler(block, owner, kind)
            if found is None and isinstance(statement, ast.Try) and block is statement.body:
                found = next((one for one in statement.handlers if _takes(one, kind)), None)
            return found
    return None


def _takes(handler: ast.ExceptHandler, kind: str) -> bool:
    if handler.type is None:
        return True
    nodes = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    raised = getattr(builtins, kind, None)
    for name in (ast.unparse(node) for node in nodes):
        taken = getattr(builtins, name, None)
        if name in (kind, "Exception", "BaseException"):
            return True
        if isinstance(raised, type) and isinstance(taken, type) and issubclass(raised, taken):
            return True
    return False


def _kind(body: list[ast.stmt]) -> str:
    """The class of the exception that a block raises, by its last name."""
    for statement in body:
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            return ast.unparse(statement.exc).partition("(")[0].rpartition(".")[2]
    return ""


def _case(pattern: ast.AST, owner: ast.Match, body: list[ast.stmt]) -> Shape:
    """One case of a ``match``: what it does, and what the cases after it do."""
    place = next((i for i, case in enumerate(owner.cases) if case.pattern is pattern), 0)
    case, later = owner.cases[place], owner.cases[place + 1 :]
    code = f"{ast.unparse(owner.subject)} matches {ast.unparse(pattern)}"
    if case.guard is not None:
        code += f" if {ast.unparse(case.guard)}"
    then = side(case.body, owner)
    ways = tuple(side(one.body, owner) for one in later)
    other = replace(_either(ways), mark=0, branches=ways, asks=None) if ways else NOTHING
    if other.empty and then.leaves:
        other = rest(after(body, owner), owner)
    sure = case.guard is None and isinstance(pattern, ast.MatchAs) and pattern.pattern is None
    return Shape(code, then, other, False, f"match {ast.unparse(owner.subject)}", sure)


def _value_side(node: ast.expr) -> Side:
    return Side(action=_short(node), line=node.lineno)


# Sides.


def side(body: list[ast.stmt], owner: ast.stmt, following: list[ast.stmt] | None = None) -> Side:
    """The facts of a block of statements that an ``if`` holds; ``following``: what comes after the ``if``."""
    mark = flow.mark(body, owner)
    if not body or all(isinstance(statement, ast.Pass) for statement in body):
        return replace(NOTHING, mark=mark)
    raising = flow.raises(body)
    branches: tuple[Side, ...] = ()
    first = body[0]
    if len(body) == 1 and isinstance(first, ast.If):
        other = side(first.orelse, first, following)
        if not first.orelse and following and flow.leaves(first.body):
            other = replace(rest(following, first), mark=other.mark)
        branches = (side(first.body, first), other)
    return Side(
        raises=raising,
        leaves=flow.leaves(body),
        announces=raising or _announcing(body),
        action=_action(body),
        message=_message(body),
        stores=tuple(sorted(attr for _, attr in flow.stored_in(body)[1])),
        sets=tuple(_sets(body)),
        line=first.lineno,
        mark=mark,
        answers=_answers(body),
        explains=_explains(body),
        regrets=_regretting(body),
        tells=all(_is_announcement(statement) for statement in body),
        sieves=_sieves(body),
        skips=_skips(body),
        calls=_calls(body),
        branches=branches,
        asks=_test(first) if branches else None,
    )


def rest(body: list[ast.stmt], owner: ast.stmt) -> Side:
    """What runs instead when the other side leaves: the statements that follow, up to where they end."""
    if not body:
        return replace(NOTHING, rest=True)
    first = body[0]
    branches: tuple[Side, ...] = ()
    if isinstance(first, ast.If) and flow.leaves(first.body) and not first.orelse:
        branches = (side(first.body, first), replace(rest(body[1:], first), mark=flow.mark([], first)))
    raising = flow.raises(body) and not _returns(body)
    return Side(
        raises=raising,
        leaves=flow.leaves(body),
        announces=raising or _announcing(body[:3]),
        action=_action(body),
        message=_message(body) if raising else "",
        line=first.lineno,
        answers=_answers(body),
        rest=True,
        branches=branches,
        asks=_test(first) if branches else None,
    )


def _returns(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for statement in body for node in ast.walk(statement))


def _test(statement: ast.stmt) -> tuple[int, int] | None:
    """Where the test of an ``if`` stands."""
    return (statement.test.lineno, statement.test.col_offset + 1) if isinstance(statement, ast.If) else None


class Host(Protocol):
    """What one host did with the sides of decisions in a file, by their marks."""

    def ran(self, mark: int) -> bool:
        """Whether a side was run."""

    def fails(self, mark: int) -> str | None:
        """The message with which a side raised whenever it was run, if it did."""

    def decided(self, line: int, column: int) -> bool | None:
        """How the test that stands there came out, if a device answer has a part in it and it is known."""


def _sets(body: list[ast.stmt]) -> Iterator[tuple[str, str | bool]]:
    """The attributes that a block itself gives a text, or true."""
    for statement in body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            given = statement.value.value
            for target in statement.targets:
                if isinstance(target, ast.Attribute) and (given is True or isinstance(given, str)):
                    yield target.attr, given


def settled(found: Side, host: Host) -> Side:
    """A side as one host takes it: of the ways into which it divides, those that ran there."""
    if found.branches:
        known = host.decided(*found.asks) if found.asks is not None else None
        ways = found.branches if known is None else found.branches[:1] if known else found.branches[1:]
        taken = tuple(settled(way, host) for way in ways if host.ran(way.mark))
        if taken:
            either = _either(taken)
            found = replace(
                either,
                stores=found.stores,
                sets=found.sets,
                mark=found.mark,
                line=found.line,
                rest=found.rest,
            )
    message = host.fails(found.mark) if found.mark and not found.empty else None
    if message is not None and not found.raises:
        return replace(found, raises=True, announces=True, message=message)
    return found


def _either(ways: Sequence[Side]) -> Side:
    """Several ways of which any may be taken, told as one."""
    if len(ways) == 1:
        return ways[0]
    going = [way for way in ways if not way.raises] or list(ways)
    acting = [way for way in going if not way.empty]
    actions = list(dict.fromkeys(way.action for way in acting if way.action))
    return Side(
        empty=not acting,
        raises=all(way.raises for way in ways),
        leaves=all(way.leaves for way in ways),
        announces=all(way.announces for way in going),
        action=" or ".join(actions[:3]),
        message=next((way.message for way in ways if way.message), ""),
        stores=tuple(sorted({name for way in ways for name in way.stores})),
        line=ways[0].line,
        answers=all(way.answers for way in acting) and bool(acting),
        regrets=any(way.regrets for way in acting),
    )


def _announcing(body: list[ast.stmt]) -> bool:
    return any(_announces(node) for statement in body for node in ast.walk(statement))


def _regretting(body: list[ast.stmt]) -> bool:
    """Whether a block tells the user that something is left out or replaced."""
    words: list[str] = data.table("contracts")["announce"]["regrets"]
    texts = (
        inner.value.lower()
        for statement in body
        for node in ast.walk(statement)
        if _announces(node)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    )
    return any(word in text for text in texts for word in words)


def _announces(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in announcing()


def _answers(body: list[ast.stmt]) -> bool:
    """Whether a block only gives back false or nothing, such as an empty list."""
    found = _given_back(body)
    if isinstance(found, (ast.List, ast.Tuple)):
        return not found.elts
    return isinstance(found, ast.Constant) and (found.value is None or found.value is False)


def _skips(body: list[ast.stmt]) -> bool:
    """Whether a block only passes over the rest of a loop's turn."""
    acting = [statement for statement in body if not _is_announcement(statement)]
    return len(acting) == 1 and isinstance(acting[0], ast.Continue)


def _explains(body: list[ast.stmt]) -> bool:
    """Whether a block only gives back a text for people, of several words: why not."""
    found = _given_back(body)
    return (
        isinstance(found, ast.Constant)
        and isinstance(found.value, str)
        and len(found.value.split()) >= _SENTENCE
    )


def _given_back(body: list[ast.stmt]) -> ast.expr | None:
    """What a block gives back that does nothing else."""
    acting = [s for s in body if not _is_announcement(s)]
    if len(acting) != 1 or not isinstance(acting[0], ast.Return):
        return None
    return acting[0].value or ast.Constant(None)


#: So many words make a sentence.
_SENTENCE = 4


def _sieves(body: list[ast.stmt]) -> bool:
    """Whether a block does nothing but try an import or a look-up, and refuse where that raises."""
    acting = [statement for statement in body if not _is_announcement(statement)]
    return bool(acting) and all(
        isinstance(statement, ast.Try)
        and not statement.orelse
        and not statement.finalbody
        and all(isinstance(inner, (ast.Import, ast.ImportFrom, ast.Expr)) for inner in statement.body)
        and all(_answers(handler.body) or flow.raises(handler.body) for handler in statement.handlers)
        for statement in acting
    )


def _calls(body: list[ast.stmt]) -> tuple[str, ...]:
    """The calls of a block that makes nothing but calls for their effect; nothing for others."""
    acting = [statement for statement in body if not _is_announcement(statement)]
    if not all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) for one in acting):
        return ()
    return tuple(ast.unparse(statement) for statement in acting)


def _told(owner: ast.If, following: list[ast.stmt]) -> bool:
    """Whether what an ``if`` sets is told to the user right after it."""
    if not following or not isinstance(following[0], ast.Expr) or not _announces(following[0].value):
        return False
    names, attributes = flow.stored_in([owner])
    stored = names | {attribute for _, attribute in attributes}
    shown = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(following[0])}
    return bool(stored & shown)


def _is_announcement(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr):
        return False
    return isinstance(statement.value, ast.Constant) or _announces(statement.value)


def forwards(then: list[ast.stmt], other: list[ast.stmt]) -> bool:
    """Whether the sides of an ``if`` do no more than bind local names to truth values."""
    return bool(then) and all(_binds_truth(statement) for statement in [*then, *other])


def _binds_truth(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign) or not all(isinstance(t, ast.Name) for t in statement.targets):
        return False
    return isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, bool)


def answering(body: list[ast.stmt]) -> tuple[bool, bool]:
    """Whether a function does nothing but find an answer, and whether that surely is a truth value.

    Whatever decides inside such a function is a part of its answer.
    """
    returns, truth = False, True
    stack: list[ast.stmt] = list(body)
    while stack:
        statement = stack.pop()
        if isinstance(statement, ast.Return):
            truth = truth and _is_truth(statement.value)
            returns = True
        elif isinstance(statement, ast.Expr):
            if not _is_announcement(statement):
                return False, False
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if not all(isinstance(node, (ast.Name, ast.Tuple, ast.List)) for node in targets):
                return False, False
        elif isinstance(statement, (ast.If, ast.Try, ast.For, ast.With)):
            stack += [inner for block in blocks(statement) for inner in block]
        elif not isinstance(statement, (ast.Pass, ast.Import, ast.ImportFrom, ast.Break, ast.Continue)):
            return False, False
    return returns, returns and truth


def _is_truth(node: ast.expr | None) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(_is_truth(value) for value in node.values)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("bool", "any", "all", "isinstance")
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


# Wording.


def _said(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else statements.source_text(node)


def _message(body: list[ast.stmt]) -> str:
    for statement in body:
        if isinstance(statement, ast.Raise) and isinstance(statement.exc, ast.Call) and statement.exc.args:
            return _said(statement.exc.args[0])
    return ""


def _action(body: list[ast.stmt]) -> str:
    """What a block is for, in a few words: what it returns or raises, else what it sets, imports or calls."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return _returned(statement, body)
        if isinstance(statement, ast.Raise):
            return f"raises {ast.unparse(statement.exc).partition('(')[0]}" if statement.exc else "raises"
    options = [_assigned(statement) for statement in _walk(body) if _sets_option(statement)]
    if options:
        return "; ".join(dict.fromkeys(options[:2]))
    imports = [statement for statement in body if isinstance(statement, (ast.Import, ast.ImportFrom))]
    if imports:
        return shortened(ast.unparse(imports[0]))
    inner = (_action(block) for statement in body for block in blocks(statement))
    return next((told for told in (*map(_simple, body), *inner) if told), "")


def _simple(statement: ast.stmt) -> str:
    """What one statement sets or calls, empty for others."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
        return _assigned(statement)
    calls = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return _short(statement.value) if calls and not _announces(statement.value) else ""  # type: ignore[attr-defined]


def _returned(statement: ast.Return, body: list[ast.stmt]) -> str:
    if statement.value is None:
        return "None"
    if isinstance(statement.value, ast.Name):
        for earlier in reversed(body[: body.index(statement)]):
            if isinstance(earlier, ast.Assign) and ast.unparse(earlier.targets[0]) == statement.value.id:
                return _short(earlier.value)
    return _short(statement.value)


def _walk(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block and of the blocks in them, outer ones first."""
    yield from body
    for statement in body:
        for block in blocks(statement):
            yield from _walk(block)


def _sets_option(statement: ast.stmt) -> bool:
    """Whether a statement sets attributes to plain constants."""
    if not isinstance(statement, ast.Assign):
        return False
    values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
    if not all(isinstance(value, ast.Constant) for value in values):
        return False
    return any(isinstance(node, ast.Attribute) for target in statement.targets for node in ast.walk(target))


def _assigned(statement: ast.stmt) -> str:
    """An assignment, without the receiver of what it sets."""
    if isinstance(statement, ast.Assign):
        target, sign, value = statement.targets[0], "=", statement.value
    elif isinstance(statement, ast.AugAssign):
        target, sign, value = statement.target, "+=", statement.value
    else:
        assert isinstance(statement, ast.AnnAssign)
        assert statement.value is not None
        target, sign, value = statement.target, "=", statement.value
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    values = value.elts if isinstance(value, ast.Tuple) and len(targets) > 1 else [value]
    left = ", ".join(ast.unparse(node).removeprefix("self.") for node in targets)
    return f"{left} {sign} {', '.join(_short(node) for node in values)}"


def _short(node: ast.expr) -> str:
    """An expression in few letters: a call by its name, with its arguments if they are few constants."""
    if isinstance(node, ast.Call):
        plain = [*node.args, *(keyword.value for keyword in node.keywords)]
        if len(plain) <= 2 and all(isinstance(value, ast.Constant) for value in plain):
            return shortened(ast.unparse(node).removeprefix("self."))
        inner = _short(plain[0]) if len(plain) == 1 and isinstance(plain[0], ast.Call) else "…"
        return shortened(f"{ast.unparse(node.func).removeprefix('self.')}({inner})")
    return shortened(ast.unparse(node).removeprefix("self."))


def shortened(text: str) -> str:
    """A text on one line of at most :data:`LETTERS` letters."""
    text = " ".join(text.split())
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"


# Places.


def after(body: list[ast.stmt], owner: ast.AST) -> list[ast.stmt]:
    """The statements that follow a statement in its block, and then those after the enclosing ones."""
    for position, statement in enumerate(body):
        if statement is owner:
            return body[position + 1 :]
        for inner in blocks(statement):
            if _holds(inner, owner):
                found = after(inner, owner)
                if found:
                    return found
                if isinstance(statement, (ast.For, ast.While, ast.AsyncFor)):
                    return []
                return body[position + 1 :]
    return []


def _holds(block: list[ast.stmt], node: ast.AST) -> bool:
    """Whether a node stands in a block; only statements on whose lines it does are looked into."""
    line = getattr(node, "lineno", 0)
    return any(
        _first_line(statement) <= line <= (statement.end_lineno or line)
        and any(inner is node for inner in ast.walk(statement))
        for statement in block
    )


def _first_line(statement: ast.stmt) -> int:
    """The line on which a statement begins, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks directly inside a statement; the body of a nested function or class is none."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    found = [getattr(statement, name, None) or [] for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(statement, "handlers", [])]
    found += [case.body for case in getattr(statement, "cases", [])]
    return [block for block in found if block]


def chain(body: list[ast.stmt], owner: ast.If) -> str:
    """The first condition of the ``if``/``elif`` chain of a statement, told apart from equal ones."""
    counts: dict[str, int] = {}
    for statement in _walk(body):
        if not isinstance(statement, ast.If):
            continue
        text = ast.unparse(statement.test)
        counts[text] = counts.get(text, 0) + 1
        links = _links(statement)
        if len(links) > 1 and any(link is owner for link in links):
            return text if counts[text] == 1 else f"{text}.{counts[text]}"
    return ""


def _links(first: ast.If) -> list[ast.If]:
    """An ``if`` and its ``elif`` in order."""
    links = [first]
    while len(links[-1].orelse) == 1 and isinstance(links[-1].orelse[0], ast.If):
        links.append(links[-1].orelse[0])
    return links
