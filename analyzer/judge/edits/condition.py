"""The edit of a Python condition, list or argument that takes the target in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import TypeGuard

from analyzer.judge.edits.predicates import Predicates, bound, module_of
from analyzer.judge.edits.spelling import another
from analyzer.judge.edits.text import NoEditError, Planned, Splice, Text
from analyzer.model import Gate, Predicate

Function = ast.FunctionDef | ast.AsyncFunctionDef
Container = (ast.List, ast.Tuple, ast.Set)


def edit(gate: Gate, predicates: Predicates, text: Text) -> Planned:
    """The edit of a gate in Python.

    Lists that name architectures name the target too; beside a predicate that the target fails stands the
    one that names it, with its import and the variable that holds it, if the file has these for the others.

    Raises:
        NoEditError: the file is not at hand, or the condition has none of these forms.
    """
    content = text(gate.file)
    if content is None:
        raise NoEditError(f"{gate.file} is not at hand")
    try:
        syntax = _syntax(content)
    except (SyntaxError, ValueError) as error:
        raise NoEditError(f"{gate.file} cannot be parsed") from error
    return _Editor(gate, predicates, text, content, syntax).run()


@dataclass(frozen=True, slots=True)
class _Syntax:
    """One file: its nodes, breadth first; its imports by the name that they bind; where its lines begin."""

    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    imports: Mapping[str, tuple[ast.ImportFrom, ...]]
    starts: tuple[int, ...]
    encoded: tuple[bytes, ...]


@lru_cache(maxsize=16)  # the gates of a file come one after the other
def _syntax(content: str) -> _Syntax:
    tree = ast.parse(content)
    nodes = tuple(ast.walk(tree))
    imports: dict[str, tuple[ast.ImportFrom, ...]] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            for name in dict.fromkeys(alias.asname or alias.name for alias in node.names):
                imports[name] = (*imports.get(name, ()), node)
    lines = content.splitlines(keepends=True)
    starts = tuple(accumulate(map(len, lines), initial=0))
    return _Syntax(tree, nodes, imports, starts, tuple(line.encode() for line in lines))


@dataclass(slots=True)
class _Editor:
    gate: Gate
    predicates: Predicates
    text: Text
    content: str
    syntax: _Syntax
    extra: list[Splice] = field(default_factory=list)
    depth: int = 0

    def run(self) -> Planned:
        node = self._node()
        splices = self._keyword(node) if isinstance(node, ast.keyword) else self._open(node)
        main = sorted(set(splices))
        start = min(splice.start for splice in main)
        end = max(splice.end for splice in main)
        shown = self._shown(node, start, end, main[0].text)
        before = self.content[shown[0] : shown[1]]
        after = before
        for splice in reversed(main):
            a, b = splice.start - shown[0], splice.end - shown[0]
            after = after[:a] + splice.text + after[b:]
        what = f"{_one_line(before)} → {_one_line(after)}"
        return Planned(what, tuple(sorted({*main, *self.extra})))

    # Places.

    def _offset(self, line: int, column: int) -> int:
        """From CPython's line and byte column to an offset in characters."""
        syntax = self.syntax
        return syntax.starts[line - 1] + len(syntax.encoded[line - 1][:column].decode(errors="replace"))

    def _start(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> int:
        return self._offset(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.end_lineno, node.end_col_offset)

    def _source(self, node: ast.expr) -> str:
        return self.content[self._start(node) : self._end(node)]

    def _node(self) -> ast.expr | ast.keyword:
        """The expression of the gate: at its place, with its normal form."""
        best: ast.expr | ast.keyword | None = None
        for node in self.syntax.nodes:
            if not isinstance(node, (ast.expr, ast.keyword, ast.Assign, ast.AnnAssign)):
                continue
            if node.lineno != self.gate.line or node.col_offset != self.gate.column - 1:
                continue
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                if ast.unparse(node) == self.gate.code and isinstance(node.value, (Container, ast.Call)):
                    return node.value  # a list that has a name is told where it is written
                continue
            code = (
                f"{node.arg}={ast.unparse(node.value)}"
                if isinstance(node, ast.keyword)
                else ast.unparse(node)
            )
            if code == self.gate.code:
                return node
            if node.end_lineno == self.gate.end_line and best is None:
                best = node
        if best is None:
            raise NoEditError(f"{self.gate.file}:{self.gate.line} is not what the report says")
        return best

    def _shown(self, node: ast.expr | ast.keyword, start: int, end: int, text: str) -> tuple[int, int]:
        """What to show of an edit: the smallest expression around its replacements that says enough."""
        kinds: tuple[type[ast.expr], ...] = (ast.BoolOp, ast.Compare, ast.Call, ast.UnaryOp, *Container)
        if text.startswith((" or ", " and ")):
            kinds = (ast.BoolOp,)
        elif text.startswith(", "):
            kinds = Container
        smallest = self._start(node), self._end(node)
        for inner in ast.walk(node):
            if not isinstance(inner, kinds):
                continue
            a, b = self._start(inner), self._end(inner)
            if a <= start and end <= b and b - a < smallest[1] - smallest[0]:
                smallest = a, b
        while self._in_parentheses(*smallest):
            smallest = smallest[0] - 1, smallest[1] + 1
        if not (smallest[0] <= start and end <= smallest[1]):
            return start, end
        return smallest

    def _in_parentheses(self, start: int, end: int) -> bool:
        before, after = self.content[start - 1 : start], self.content[end : end + 1]
        return before == "(" and after == ")" and not re.search(r"[\w\])]\Z", self.content[: start - 1][-1:])

    def _function(self) -> Function | None:
        """The innermost function around the gate."""
        found: Function | None = None
        for node in self.syntax.nodes:
            if not isinstance(node, Function):
                continue
            around = node.lineno <= self.gate.line <= (node.end_lineno or 0)
            if around and (found is None or node.lineno >= found.lineno):
                found = node
        return found

    # Values.

    def _value(self, node: ast.expr) -> str | None:
        """What an expression is on the target, where the report says so."""
        code = ast.unparse(node)
        for part in self.gate.parts:
            if part.code == code:
                return part.value.get(self.predicates.target)
        predicate = self._predicate(node)
        return predicate.value.get(self.predicates.target) if predicate is not None else None

    def _predicate(self, node: ast.expr) -> Predicate | None:
        """The predicate that a name, call or attribute stands for."""
        if isinstance(node, ast.Call):
            return self._predicate(node.func)
        if isinstance(node, ast.Name):
            own = self.predicates.by_name.get(f"{module_of(self.gate.file)}.{node.id}")
            if own is not None:
                return own
            origins = [origin for origin, _ in self._imports(node.id)]
            return self.predicates.imported(node.id, origins) if origins else None
        if isinstance(node, ast.Attribute):
            known = self.predicates.by_last.get(node.attr, [])
            return known[0] if len(known) == 1 else None
        return None

    def _imports(self, name: str) -> Iterator[tuple[str, ast.ImportFrom]]:
        """The modules that a name is imported from, absolute, with the statements."""
        package = module_of(self.gate.file).split(".")
        if not self.gate.file.endswith("/__init__.py"):
            package = package[:-1]
        for node in self.syntax.imports.get(name, ()):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield ".".join([*base, *([node.module] if node.module else [])]), node

    # Edits.

    def _keyword(self, node: ast.keyword) -> list[Splice]:
        return self._widen(node.value)

    def _open(self, node: ast.expr) -> list[Splice]:
        if isinstance(node, Container):
            return self._widen(node)
        if isinstance(node, ast.IfExp):
            return self._fix(node.test, not self.gate.negated)
        return self._fix(node, not self.gate.negated)

    def _fix(self, node: ast.expr, want: bool) -> list[Splice]:
        """The replacements by which an expression comes out as wanted on the target."""
        self.depth += 1
        try:
            if self.depth > 40:
                raise NoEditError("the condition is nested too deep")
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                return self._fix(node.operand, not want)
            if isinstance(node, ast.BoolOp):
                return self._connected(node, want)
            if isinstance(node, ast.Compare):
                return self._compared(node, want)
            return self._named(node, want)
        finally:
            self.depth -= 1

    def _connected(self, node: ast.BoolOp, want: bool) -> list[Splice]:
        if isinstance(node.op, ast.And) is want:
            return self._each(node, want)
        for operand in reversed(node.values):
            other = self._alternative(operand.operand if _negated(operand) else operand)
            if other is not None:
                joint = f" or {other}" if want else f" and not {other}"
                return [Splice(self.gate.file, self._end(node), self._end(node), joint)]
        for operand in reversed(node.values):
            try:
                return self._fix(operand, want)
            except NoEditError:
                continue
        raise NoEditError("the condition names no architecture that another could stand beside")

    def _each(self, node: ast.BoolOp, want: bool) -> list[Splice]:
        """All operands must come out as wanted: mend those that do not."""
        against = ("false", "False") if want else ("true", "True")
        wrong = [operand for operand in node.values if self._value(operand) in against]
        if not wrong:
            wrong = [operand for operand in node.values if self._value(operand) is None]
        found: list[Splice] = []
        for operand in wrong:
            if self._names_target(operand) and len(node.values) > 1:
                found.append(self._dropped(node, operand))
                continue
            try:
                found += self._fix(operand, want)
            except NoEditError:
                if self._value(operand) in against:
                    raise
        if not found:
            raise NoEditError("the condition names no architecture that another could stand beside")
        return found

    def _names_target(self, operand: ast.expr) -> bool:
        """Whether the operand keeps the target out by name (``not is_target()``)."""
        known = self._predicate(operand.operand) if _negated(operand) else self._predicate(operand)
        return known is not None and self.predicates.names_target(known)

    def _dropped(self, node: ast.BoolOp, operand: ast.expr) -> Splice:
        """``and`` or ``or`` without an operand."""
        index = node.values.index(operand)
        start, end = self._outer(operand)
        if index:
            return Splice(self.gate.file, self._outer(node.values[index - 1])[1], end, "")
        return Splice(self.gate.file, start, self._outer(node.values[1])[0], "")

    def _outer(self, node: ast.expr) -> tuple[int, int]:
        """From where to where an operand reaches, with parentheses of its own."""
        start, end = self._start(node), self._end(node)
        while self._in_parentheses(start, end):
            start, end = start - 1, end + 1
        return start, end

    def _compared(self, node: ast.Compare, want: bool) -> list[Splice]:
        if len(node.ops) > 1:
            return self._chain(node, want)
        left, sign, right = node.left, node.ops[0], node.comparators[0]
        if isinstance(sign, ast.In if want else ast.NotIn):
            return self._widen(right)
        if isinstance(sign, ast.Eq if want else ast.NotEq):
            subject, known = (left, right) if _constant(right) is not None else (right, left)
            new = another([_constant(known)], self.predicates.target)
            if new is not None:
                word = "in" if want else "not in"
                text = f"{self._source(subject)} {word} ({self._source(known)}, {new!r})"
                return [
                    Splice(
                        self.gate.file, self._start(node), self._end(node), _quoted(text, self._source(known))
                    )
                ]
        if isinstance(sign, (ast.Lt, ast.LtE)) and want:
            new = another([_constant(right)], self.predicates.target)
            if new is not None:
                code = f"({self._source(node)} or {self._source(left)} == {new!r})"
                return [Splice(self.gate.file, self._start(node), self._end(node), code)]
        raise NoEditError("the comparison names no architecture")

    def _chain(self, node: ast.Compare, want: bool) -> list[Splice]:
        """``90 <= sm < 120``: without the bound above."""
        if (
            want
            and isinstance(node.ops[-1], (ast.Lt, ast.LtE))
            and _constant(node.comparators[-1]) is not None
        ):
            return [Splice(self.gate.file, self._end(node.comparators[-2]), self._end(node), "")]
        raise NoEditError("the comparison names no architecture")

    def _widen(self, node: ast.expr) -> list[Splice]:
        """A list, tuple or set that names architectures, with the target."""
        if isinstance(node, ast.Name):
            scope = self._function()
            values = bound(scope, node.id) if scope is not None else []
            values = values or bound(self.syntax.tree, node.id)
            if len(values) == 1 and values[0] is not None:
                return self._widen(values[0])
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            return self._widen(node.args[0])  # frozenset({…})
        if not isinstance(node, Container) or not node.elts:
            raise NoEditError("the architectures are not listed here")
        values_of = [self._resolved(element) for element in node.elts]
        new = another(values_of, self.predicates.target)
        if new is None:
            raise NoEditError("the list does not spell architectures in a known way")
        if new in values_of:
            raise NoEditError("the list names the target already")
        last = node.elts[-1]
        at = self._end(last)
        text = _quoted(repr(new), self._source(last)) if isinstance(new, str) else repr(new)
        return [Splice(self.gate.file, at, at, f", {text}")]

    def _resolved(self, node: ast.expr) -> object:
        value = _constant(node)
        if value is None and isinstance(node, ast.Name):
            values = bound(self.syntax.tree, node.id)
            if len(values) == 1 and values[0] is not None:
                return _constant(values[0])
        return value

    def _named(self, node: ast.expr, want: bool) -> list[Splice]:
        """A predicate, or a call that is given architectures."""
        if isinstance(node, ast.Call):
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(argument, Container):
                    try:
                        return self._widen(argument)
                    except NoEditError:
                        continue
        known = self._predicate(node)
        if known is not None and self.predicates.names_target(known):
            raise NoEditError("the target is meant here by name")
        other = self._alternative(node)
        if other is not None:
            code = self._source(node)
            text = f"{code} or {other}" if want else f"{code} and not {other}"
            if not self._stands_alone(node):
                text = f"({text})"
            return [Splice(self.gate.file, self._start(node), self._end(node), text)]
        if isinstance(node, ast.Name):
            scope = self._function()
            values = bound(scope, node.id) if scope is not None else []
            if len(values) == 1 and values[0] is not None:
                return self._fix(values[0], want)
        raise NoEditError(f"nothing at hand tells {self.predicates.target} apart")

    def _stands_alone(self, node: ast.expr) -> bool:
        """Whether the expression is the whole condition of a statement."""
        for other in self.syntax.nodes:
            if isinstance(other, (ast.If, ast.While, ast.Assert)) and other.test is node:
                return True
            if isinstance(other, (ast.Return, ast.Assign)) and other.value is node:
                return True
        return False

    # The name that tells the target apart.

    def _alternative(self, node: ast.expr) -> str | None:
        """The expression beside this one that is true on the target."""
        if isinstance(node, ast.Call):
            return self._other_call(node)
        if isinstance(node, ast.Attribute):
            known = self._predicate(node)
            sibling = self.predicates.sibling(known) if known is not None else None
            if sibling is None:
                return None
            return f"{self._source(node.value)}.{sibling.name.rpartition('.')[2]}"
        if isinstance(node, ast.Name):
            return self._other_name(node)
        return None

    def _other_call(self, node: ast.Call) -> str | None:
        known = self._predicate(node.func)
        sibling = self.predicates.sibling(known) if known is not None else None
        if known is None or sibling is None:
            return None
        name = sibling.name.rpartition(".")[2]
        arguments = self.content[self._end(node.func) : self._end(node)]
        if isinstance(node.func, ast.Attribute):
            return f"{self._source(node.func.value)}.{name}{arguments}"
        assert isinstance(node.func, ast.Name)
        self._import(node.func.id, sibling)
        return f"{name}{arguments}"

    def _other_name(self, node: ast.Name) -> str | None:
        scope = self._function()
        if scope is not None and bound(scope, node.id):
            flags = (flag for flag in self.predicates.flags(self.gate) if bound(scope, flag))
            return next(flags, None)
        known = self.predicates.by_name.get(f"{module_of(self.gate.file)}.{node.id}")
        if known is None:
            return None
        sibling = self.predicates.sibling(known)
        if sibling is not None:
            return sibling.name.rpartition(".")[2]
        return self._variable(node.id)

    def _variable(self, name: str) -> str | None:
        """A variable of the module like this one, for the predicate that names the target."""
        for statement in self.syntax.tree.body:
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            variable = statement.targets[0]
            if not isinstance(variable, ast.Name) or variable.id != name:
                continue
            for call in ast.walk(statement.value):
                if not isinstance(call, ast.Name):
                    continue
                known = self._predicate(call)
                sibling = self.predicates.sibling(known) if known is not None else None
                if sibling is None or "." not in sibling.name:
                    continue
                function = sibling.name.rpartition(".")[2]
                new = name.replace(call.id, function) if call.id in name else f"_{function}"
                if not bound(self.syntax.tree, new):
                    value = self._source(statement.value)
                    at = self._start(call) - self._start(statement.value)
                    value = value[:at] + function + value[at + len(call.id) :]
                    self._import(call.id, sibling)
                    end = self._end(statement)
                    self.extra.append(Splice(self.gate.file, end, end, f"{self._newline()}{new} = {value}"))
                return new
        return None

    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.content else "\n"

    def _import(self, known: str, sibling: Predicate) -> None:
        """Import the sibling as the known name is imported, if that is needed."""
        home, _, name = sibling.name.rpartition(".")
        if home == module_of(self.gate.file) or any(True for _ in self._imports(name)):
            return
        for origin, statement in self._imports(known):
            alias = next(a for a in statement.names if (a.asname or a.name) == known)
            if not self._exports(origin, home, name):
                line = f"{self._newline()}{' ' * statement.col_offset}from {home} import {name}"
                end = self._end(statement)
                self.extra.append(Splice(self.gate.file, end, end, line))
                return
            end = self._end(alias)
            own_line = self.content[self.syntax.starts[alias.lineno - 1] : self._start(alias)].isspace()
            joint = f",{self._newline()}{' ' * alias.col_offset}" if own_line else ", "
            self.extra.append(Splice(self.gate.file, end, end, f"{joint}{name}"))
            return

    def _exports(self, origin: str, home: str, name: str) -> bool:
        """Whether a module has the name: its own, or taken over from its home."""
        if origin == home:
            return True
        base = origin.replace(".", "/")
        content = self.text(f"{base}/__init__.py") or self.text(f"{base}.py") or ""
        if re.search(rf"from {re.escape(home)} import \*", content):
            return True
        last = re.escape(home.rpartition(".")[2])
        return re.search(rf"from \.{last} import \*", content) is not None or bool(
            re.search(rf"import [^#]*\b{re.escape(name)}\b", content)
        )


def _negated(node: ast.expr) -> TypeGuard[ast.UnaryOp]:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _constant(node: ast.expr) -> object:
    """The value of a literal number, string or tuple of them; None for anything else."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, (int, str, tuple)) else None


def _quoted(text: str, like: str) -> str:
    """The text with the kind of quotes that its model has."""
    return text.replace("'", '"') if like.startswith('"') else text


def _one_line(text: str) -> str:
    return " ".join(text.split())
