"""Runs one host function on all architectures at once, and notes what it decides by them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import tree_sitter

from analyzer.archs import Arch
from analyzer.cuda.guards import bare
from analyzer.cuda.host import api
from analyzer.cuda.host.values import (
    FREE,
    Free,
    Numbers,
    Properties,
    Several,
    Truth,
    Value,
    both,
    certain,
    chosen,
    computed,
    either,
    joined,
    numbers,
    truth,
)

Node = tree_sitter.Node
#: Nodes in an expression by which it may not be the same when it is evaluated again.
_EFFECTS = {
    *("call_expression", "assignment_expression", "update_expression", "lambda_expression"),
    *("conditional_expression", "field_expression", "template_function"),
}
_ARITHMETIC = frozenset("+-*/%")
_LOOPS = frozenset({"while_statement", "do_statement", "for_statement", "for_range_loop"})
_NOTHING = frozenset({"return;", "return false;", "return nullptr;", "return {};", "return std::nullopt;"})
_CASTS = frozenset({"static_cast", "const_cast", "reinterpret_cast", "int", "unsigned", "size_t", "int32_t"})


class Surroundings(Protocol):
    """What a function knows of the rest of its unit."""

    @property
    def archs(self) -> Sequence[Arch]:
        """The architectures, in the order of the mask's bits."""

    def call(self, name: str, qualifiers: Sequence[str], arguments: Sequence[Value]) -> Value:
        """What a call of a function of the unit returns."""

    def named(self, name: str) -> Value:
        """A member of the function's class."""

    def constant(self, name: str) -> Value:
        """The number that a name of the unit stands for."""

    def assign(self, name: str, value: Value) -> None:
        """A name that the function does not declare is given a value."""

    def member(self, name: str) -> Value:
        """The numbers that a member of that name may hold, of whatever object."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition that not all architectures decide alike.

    ``may`` are those that come here. ``kind``: ``check`` (fails where it is false), ``branch``. ``raises`` is
    whether the side that is taken where the condition holds ends in a failure, ``refuses`` the other side;
    ``other`` the text of what runs there, ``own`` the architectures that have a branch of their own there.
    ``skips``: the side where the condition holds does nothing but leave what follows. ``behind`` are the
    conditions of the branches right behind it, where each of them leaves as it does itself.
    """

    kind: str
    start: int
    end: int
    truth: Truth
    may: int
    raises: bool = False
    refuses: bool = False
    other: str | None = None
    own: int = 0
    failing: str | None = None
    skips: bool = False
    behind: tuple[Truth, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call, or the making of an object, by its last name: on which architectures, with what."""

    name: str
    may: int
    arguments: tuple[Value, ...]


_Leaving = tuple[int | None, Truth]
"""A branch that leaves: the number of its decision, if it is one, and its condition by itself."""


@dataclass
class Exits:
    """How a piece of code can be left: does control go on, does it return, does it fail?"""

    returns: bool = False
    fails: bool = False
    text: str | None = None


@dataclass
class Function:
    """A host function as it is run. ``place`` turns an offset of the parsed text into one of the file."""

    root: Node
    text: bytes
    place: Callable[[int], int]
    around: Surroundings
    parameters: Mapping[str, Value]
    decisions: list[Decision] = field(default_factory=list)
    returned: list[tuple[int, Value]] = field(default_factory=list)
    env: dict[str, Value] = field(default_factory=dict)
    may: int = 0
    exits: Exits = field(default_factory=Exits)
    calls: list[Call] = field(default_factory=list)
    comes: int | None = None
    """The architectures on which it is called, if that is known."""
    facts: dict[str, int] = field(default_factory=dict)
    """Expressions that nothing decides, with the architectures on which they must be false by now."""

    @property
    def full(self) -> int:
        """All architectures."""
        return (1 << len(self.around.archs)) - 1

    def run(self) -> Value:
        """What the function returns."""
        self.may = self.full if self.comes is None else self.comes
        for parameter in _all(self.root, {"parameter_declaration", "optional_parameter_declaration"}):
            name = _declared(parameter.child_by_field_name("declarator"))
            if name is not None:
                self.env[self._text(name)] = self.parameters.get(self._text(name), self._typed(parameter))
        for item in _all(self.root, {"field_initializer"}):
            parts = item.named_children
            value = self._arguments(parts[1])[:1] if len(parts) > 1 else []
            self.around.assign(self._text(parts[0]), value[0] if value else FREE)
        body = next(iter(_all(self.root, {"compound_statement"})), None)
        if body is not None:
            self.execute(body)
        return joined(self.returned, len(self.around.archs))

    # Statements.

    def execute(self, node: Node) -> None:
        """Run a statement; what is not known is run part by part."""
        if not self.may:
            return
        match node.type:
            case "if_statement":
                self._if(node)
            case "switch_statement":
                self._switch(node)
            case "declaration":
                self._declare(node)
            case "return_statement":
                self._return(node)
            case "throw_statement":
                self._fail(node)
            case "break_statement" | "continue_statement":
                self.may = 0
            case "expression_statement":
                for child in node.named_children:
                    self.value(child)
            case kind if kind in _LOOPS:
                self._loop(node)
            case "compound_statement":
                self._sequence(node)
            case "comment" | "function_definition" | "class_specifier" | "struct_specifier":
                return
            case _ if node.type.endswith(("_expression", "_literal")) or node.type == "identifier":
                self.value(node)
            case _:
                for child in node.named_children:
                    self.execute(child)

    def _sequence(self, node: Node) -> None:
        """Run statements in order; branches that leave, one right behind the other, learn of each other."""
        row: list[_Leaving] = []
        for child in node.named_children:
            if not self.may:
                break
            if child.type == "comment":
                continue
            left: _Leaving | None = None
            if child.type == "if_statement":
                left = self._if(child)
            else:
                self.execute(child)
            if left is not None:
                row.append(left)
            else:
                self._tell(row)
                row = []
        self._tell(row)

    def _tell(self, row: Sequence[_Leaving]) -> None:
        for place, (index, _) in enumerate(row):
            if index is not None:
                behind = tuple(condition for _, condition in row[place + 1 :])
                self.decisions[index] = replace(self.decisions[index], behind=behind)

    def _if(self, node: Node) -> _Leaving | None:
        """Run a branch; what it decided, if it has no other side and all that it leads to leaves."""
        clause = node.child_by_field_name("condition")
        if clause is None:
            return None
        start = clause.child_by_field_name("initializer")
        if start is not None:
            self.execute(start)
        condition = clause.child_by_field_name("value") or clause
        bare = self._bare(condition) if self.facts else None
        decided = self._decided(condition)
        came = self.may
        known = dict(self.facts)
        then, first = self._side(node.child_by_field_name("consequence"), came & ~decided.false)
        self.facts = known
        kept = dict(self.env)
        after = self.may
        self.env = dict(first)
        alternative = node.child_by_field_name("alternative")
        before = len(self.decisions)
        other, _ = self._side(alternative, came & ~decided.true)
        self.facts = known
        if alternative is None and not after:
            self._left(condition)
        chained = alternative is not None and _only(alternative) == "if_statement"
        own = 0
        for decision in self.decisions[before:] if chained else ():
            own |= decision.truth.true | decision.own
        for name in {*kept, *self.env}:
            one, two = kept.get(name, FREE), self.env.get(name, FREE)
            self.env[name] = chosen(decided, one, two)
        skips = alternative is None and _leaves(node.child_by_field_name("consequence"), self.text)
        count = len(self.decisions)
        self._decide(condition, decided, came, then, other, after == 0, alternative, own, skips)
        self.may |= after
        told = count if len(self.decisions) > count else None
        return (told, decided if bare is None else bare) if alternative is None and not after else None

    def _bare(self, condition: Node) -> Truth:
        """A condition by itself, whatever earlier branches have settled."""
        facts, self.facts = self.facts, {}
        calls, decisions = len(self.calls), len(self.decisions)
        decided = truth(self._condition(condition))
        del self.calls[calls:], self.decisions[decisions:]
        self.facts = facts
        return decided

    def _decided(self, condition: Node) -> Truth:
        """A condition; a free one is false where all beside it held, and what it led to has left."""
        return self._known(condition, truth(self._condition(condition)))

    def _known(self, node: Node, decided: Truth) -> Truth:
        if not self.facts:
            return decided
        return Truth(decided.true, decided.false | self.facts.get(_plain(self._text(node)), 0))

    def _left(self, condition: Node) -> None:
        """Whoever is still here did not take a branch: if one part of its condition is free, it was false."""
        parts = list(_conjuncts(condition))
        settled = [self._settled(part) for part in parts]
        holds = [self._decided(one).true if same else 0 for one, same in zip(parts, settled, strict=True)]
        for index, part in enumerate(parts):
            others = self.full
            for place, true in enumerate(holds):
                others &= true if place != index else self.full
            if others and settled[index]:
                text = _plain(self._text(part))
                self.facts[text] = self.facts.get(text, 0) | others

    def _settled(self, node: Node) -> bool:
        """Whether an expression is made of local names and constants alone, and changes nothing."""
        names = _all(node, {"identifier", "qualified_identifier", *_EFFECTS})
        return all(
            name.type == "qualified_identifier"
            or (name.type == "identifier" and self._text(name) in self.env)
            for name in names
        )

    def _forget(self, name: str) -> None:
        """A name is given another value: what was known of expressions that hold it no longer is."""
        for text in [text for text in self.facts if name in re.findall(r"\w+", text)]:
            del self.facts[text]

    def _side(self, node: Node | None, mask: int) -> tuple[Exits, dict[str, Value]]:
        """Run one side of a branch: how it is left, and the variables as they were before."""
        before = dict(self.env)
        outer, self.exits = self.exits, Exits()
        self.may = mask
        if node is not None and mask:
            self.execute(node)
        found = self.exits
        found.fails = found.fails and not self.may and not found.returns
        self.exits = outer
        return found, before

    def _decide(
        self,
        condition: Node,
        decided: Truth,
        came: int,
        then: Exits,
        other: Exits,
        left: bool,
        alternative: Node | None,
        own: int,
        skips: bool,
    ) -> None:
        if then.returns or other.returns:
            self.exits.returns = True
        if not self._split(decided, came):
            return
        text = self._first(alternative) if alternative is not None else None
        if text is None and left and not then.fails:
            following = _next(condition)
            text = self._line(following) if following is not None else None
        self.decisions.append(
            Decision(
                "branch",
                self.place(condition.start_byte),
                self.place(condition.end_byte),
                decided,
                came,
                then.fails,
                other.fails,
                text,
                own,
                then.text or other.text,
                skips,
            )
        )

    def _split(self, decided: Truth, came: int) -> bool:
        """Whether the architectures that come here do not all fare alike."""
        return (decided.true & came) not in (0, came) or (decided.false & came) not in (0, came)

    def _switch(self, node: Node) -> None:
        clause = node.child_by_field_name("condition")
        body = node.child_by_field_name("body")
        if clause is None or body is None:
            return
        value = self._condition(clause.child_by_field_name("value") or clause)
        came, rest = self.may, Truth(self.full, 0)
        rows: list[tuple[Node, Truth, Exits]] = []
        default, falling = Exits(), Truth(0, self.full)
        after = 0
        kept = dict(self.env)
        label: Node | None = None
        for case in body.named_children:
            if case.type != "case_statement":
                continue
            own = case.child_by_field_name("value")
            if own is None:
                hit = either(rest, falling)
            else:
                met = truth(computed("==", value, self.value(own)))
                rest = both(rest, met.negated)
                hit = either(met, falling)
            label = own or case
            statements = [child for child in case.named_children if child != own]
            if not statements:
                falling = hit
                continue
            falling = Truth(0, self.full)
            outer, self.exits = self.exits, Exits()
            self.env, self.may, known = dict(kept), came & ~hit.false, dict(self.facts)
            broke = False
            for statement in statements:
                broke = broke or statement.type == "break_statement"
                after |= self.may if statement.type == "break_statement" else 0
                self.execute(statement)
            found, self.facts = self.exits, known
            found.fails = found.fails and not self.may and not found.returns and not broke
            self.exits = outer
            after |= self.may
            if found.returns:
                self.exits.returns = True
            if own is None:
                default = found
            else:
                rows.append((label, hit, found))
        taken = 0
        for _, hit, _ in rows:
            taken |= hit.true
        for place, hit, found in rows:
            if self._split(hit, came):
                start, end = self.place(place.start_byte), self.place(place.end_byte)
                fails = found.fails, default.fails
                self.decisions.append(
                    Decision("branch", start, end, hit, came, *fails, None, taken & ~hit.true, default.text)
                )
        self.env = {name: FREE if self.env.get(name) != old else old for name, old in kept.items()}
        self.may = after | (came & ~rest.false)

    def _loop(self, node: Node) -> None:
        came = self.may
        for name in _assigned(node, self.text):
            self._forget(name)
            if name in self.env:
                self.env[name] = FREE
        known = dict(self.facts)
        for child in node.named_children:
            self.execute(child)
        self.facts = known
        self.may |= came

    def _declare(self, node: Node) -> None:
        typed = self._typed(node)
        for child in node.children_by_field_name("declarator"):
            value = typed
            target = child
            if child.type == "init_declarator":
                held = child.child_by_field_name("value")
                target = child.child_by_field_name("declarator") or child
                if held is not None:
                    listed = held.type in ("argument_list", "initializer_list")
                    given = self._arguments(held) if listed else [self.value(held)]
                    several = Several(tuple(given)) if held.type == "initializer_list" and given else typed
                    if listed:
                        self._made(node, given)
                    single = len(given) == 1 and not isinstance(typed, Properties)
                    value = given[0] if single else several
            if target.type in ("structured_binding_declarator", "reference_declarator") and (
                names := list(_all(target, {"identifier"}))
            ):
                parts = value.parts if isinstance(value, Several) and len(value.parts) == len(names) else ()
                if target.type == "reference_declarator" and len(names) == 1:
                    parts = (value,)
                for index, name in enumerate(names):
                    self._bind(self._text(name), parts[index] if parts else FREE)
                continue
            declared = _declared(target)
            if declared is not None:
                self._bind(self._text(declared), value)

    def _bind(self, name: str, value: Value) -> None:
        self._forget(name)
        self.env[name] = value

    def _made(self, node: Node, given: Sequence[Value]) -> None:
        """Note that an object of the type that a node names is made."""
        kind = node.child_by_field_name("type")
        name = self._text(kind).split("<")[0].split("::")[-1].strip()
        self.calls.append(Call(name, self.may, tuple(given)))

    def _typed(self, node: Node) -> Value:
        kind = node.child_by_field_name("type")
        known = kind is not None and self._text(kind).split("::")[-1] in api.property_types()
        return Properties() if known else FREE

    def _return(self, node: Node) -> None:
        value: Value = FREE
        for child in node.named_children:
            value = self.value(child)
        if not self.may:
            return
        refused = [n for n in _all(node, {"identifier"}) if self._text(n) in api.refusals()]
        if refused:
            self._fail(node)
            return
        self.returned.append((self.may, value))
        self.exits.returns = True
        self.may = 0

    def _fail(self, node: Node) -> None:
        for child in node.named_children:
            self.value(child)
        self.exits.fails = True
        self.exits.text = self._line(node)
        self.may = 0

    # Expressions.

    def _condition(self, node: Node) -> Value:
        if node.type == "condition_clause" or node.type == "parenthesized_expression":
            inner = node.named_children
            return self._condition(inner[-1]) if inner else FREE
        if node.type == "declaration":
            self._declare(node)
            return FREE
        return self.value(node)

    def value(self, node: Node) -> Value:
        """The value of an expression; what it calls and assigns is done."""
        match node.type:
            case "number_literal":
                return self._number(node)
            case "true" | "false":
                return self._same(int(node.type == "true"))
            case "identifier":
                return self._name(self._text(node))
            case "qualified_identifier" | "template_function":
                return self.around.named(self._text(node).split("<")[0].split("::")[-1])
            case "field_expression":
                return self._field(node)
            case "parenthesized_expression":
                return self._condition(node)
            case "binary_expression":
                return self._binary(node)
            case "unary_expression":
                return self._unary(node)
            case "conditional_expression":
                return self._conditional(node)
            case "assignment_expression":
                return self._assign(node)
            case "call_expression":
                return self._call(node)
            case "cast_expression":
                inner = node.child_by_field_name("value")
                return self.value(inner) if inner is not None else FREE
            case "initializer_list":
                return Several(tuple(self.value(child) for child in node.named_children))
            case "lambda_expression":
                return self._lambda(node)
            case "string_literal" | "type_descriptor" | "char_literal" | "comment" | "update_expression":
                return FREE
            case "compound_literal_expression":
                held = node.child_by_field_name("value")
                value = self.value(held) if held is not None else FREE
                self._made(node, value.parts if isinstance(value, Several) else ())
                single = isinstance(value, Several) and len(value.parts) == 1
                return value.parts[0] if single and isinstance(value, Several) else value
            case _ if node.type.endswith("_statement"):
                self.execute(node)
                return FREE
            case _:
                for child in node.named_children:
                    self.value(child)
                return FREE

    def _same(self, number: int) -> Numbers:
        return Numbers((number,) * len(self.around.archs))

    def _number(self, node: Node) -> Value:
        text = self._text(node).replace("'", "").rstrip("uUlLzZ")
        try:
            octal = len(text) > 1 and text[0] == "0" and text.isdigit()
            return self._same(int(text, 8) if octal else int(text, 0))
        except ValueError:
            return FREE

    def _name(self, name: str) -> Value:
        return self.env[name] if name in self.env else self.around.named(name)

    def _field(self, node: Node) -> Value:
        owner = node.child_by_field_name("argument")
        member = self._text(node.child_by_field_name("field"))
        if owner is None:
            return FREE
        if self._text(owner) == "this":
            return self.around.named(member)
        value = self.value(owner)
        if isinstance(value, Properties):
            return self._device(member)
        if isinstance(value, Several) and member in ("first", "second") and len(value.parts) == 2:
            return value.parts[member == "second"]
        return FREE

    def _device(self, what: str) -> Value:
        if what == "major":
            return Numbers(tuple(arch.major for arch in self.around.archs))
        if what == "minor":
            return Numbers(tuple(arch.minor for arch in self.around.archs))
        return FREE

    def _binary(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = self._text(node.child_by_field_name("operator"))
        if left is None or right is None:
            return FREE
        one, other = self._operands(left, right)
        if sign in ("&&", "and", "||", "or"):
            join = both if sign in ("&&", "and") else either
            found = join(self._known(left, truth(one)), self._known(right, truth(other)))
            return numbers(found, len(self.around.archs)) if found.true or found.false else FREE
        return certain(computed(sign, one, other))

    def _operands(self, left: Node, right: Node) -> tuple[Value, Value]:
        """Both sides of an operator; constants are looked up where they meet an answer about the device."""
        one, other = self.value(left), self.value(right)
        if isinstance(one, Numbers) and one.varies and isinstance(other, Free):
            other = self._constant(right)
        elif isinstance(other, Numbers) and other.varies and isinstance(one, Free):
            one = self._constant(left)
        return one, other

    def _constant(self, node: Node) -> Value:
        if node.type == "field_expression":
            return self.around.member(self._text(node.child_by_field_name("field")))
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            return self._constant(node.named_children[0])
        if node.type == "binary_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            sign = self._text(node.child_by_field_name("operator"))
            if left is not None and right is not None and sign in _ARITHMETIC:
                return computed(sign, self._or_constant(left), self._or_constant(right))
        if node.type not in ("identifier", "qualified_identifier") or self._text(node) in self.env:
            return FREE
        return self.around.constant(self._text(node).split("::")[-1])

    def _or_constant(self, node: Node) -> Value:
        value = self.value(node)
        return self._constant(node) if isinstance(value, Free) else value

    def _unary(self, node: Node) -> Value:
        inner = node.child_by_field_name("argument")
        value = self.value(inner) if inner is not None else FREE
        sign = self._text(node.child_by_field_name("operator"))
        if sign in ("!", "not"):
            return numbers(truth(value).negated, len(self.around.archs))
        return computed("-", self._same(0), value) if sign == "-" else value if sign == "+" else FREE

    def _conditional(self, node: Node) -> Value:
        condition, one, other = (
            node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")
        )
        if condition is None or one is None or other is None:
            return FREE
        decided = truth(self._condition(condition))
        if self._split(decided, self.may):
            place = self.place(condition.start_byte), self.place(condition.end_byte)
            text = self._line(other)
            own = truth(self.value(other)) if other.type == "conditional_expression" else Truth(0, 0)
            self.decisions.append(Decision("branch", *place, decided, self.may, False, False, text, own.true))
        return chosen(decided, self.value(one), self.value(other))

    def _assign(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return FREE
        value = self.value(right)
        sign = self._text(node.child_by_field_name("operator"))
        if sign != "=":
            value = computed(sign[:-1], self.value(left), value)
        self._store(left, value)
        return value

    def _store(self, target: Node, value: Value) -> None:
        if target.type == "identifier":
            name = self._text(target)
            self._forget(name)
            if name in self.env:
                self.env[name] = value
            else:
                self.around.assign(name, value)
        elif target.type == "field_expression":
            owner = target.child_by_field_name("argument")
            if owner is not None and self._text(owner) == "this":
                self.around.assign(self._text(target.child_by_field_name("field")), value)
        elif target.type == "call_expression":  # std::tie(a, b) = ...
            arguments = target.child_by_field_name("arguments")
            names = arguments.named_children if arguments is not None else []
            if isinstance(value, Several) and len(value.parts) == len(names):
                for held, part in zip(names, value.parts, strict=True):
                    self._store(held, part)

    def _call(self, node: Node) -> Value:
        function = node.child_by_field_name("function")
        held = node.child_by_field_name("arguments")
        if function is None or held is None:
            return FREE
        path = self._text(function).split("<")[0].split("::")
        name = path[-1].split(".")[-1].split("->")[-1].strip()
        check = api.checks().get(name)
        if check is not None:
            return self._check(node, check, held)
        arguments = self._arguments(held)
        self.calls.append(Call(name, self.may, tuple(arguments)))
        if name in api.attributes():
            return self._attribute(api.attributes()[name], held)
        if name in api.property_calls():
            return Properties()
        if name in api.stops():
            self.exits.fails = True
            self.exits.text = self._line(node)
            self.may = 0
            return FREE
        if function.type == "lambda_expression":
            return FREE
        if name == "get" and "<" in self._text(function) and len(arguments) == 1:
            return _element(self._text(function), arguments[0])
        if name in ("make_pair", "make_tuple", "pair", "tuple"):
            return Several(tuple(arguments))
        if name in _CASTS and len(arguments) == 1:
            return arguments[0]
        self._written(held)
        if function.type == "field_expression":
            owner = function.child_by_field_name("argument")
            if owner is not None:
                self.value(owner)
        return self.around.call(name, path[:-1], arguments)

    def _arguments(self, node: Node) -> list[Value]:
        return [self.value(child) for child in node.named_children if child.type != "comment"]

    def _written(self, arguments: Node) -> None:
        """A call may write what it is given the address of, or a reference to."""
        for child in arguments.named_children:
            if child.type == "identifier":
                self._forget(self._text(child))
            if child.type == "pointer_expression" and self._text(child).startswith("&"):
                inner = child.child_by_field_name("argument")
                if inner is not None and inner.type == "identifier":
                    name = self._text(inner)
                    self._forget(name)
                    if name in self.env and not isinstance(self.env[name], Properties):
                        self.env[name] = FREE

    def _attribute(self, row: api.Attribute, arguments: Node) -> Value:
        given = arguments.named_children
        if len(given) <= max(row.out, row.key):
            return FREE
        key = self._text(given[row.key]).split("::")[-1]
        target = given[row.out]
        inner = target.child_by_field_name("argument") if target.type == "pointer_expression" else None
        if inner is not None:
            self._store(inner, self._device(row.values.get(key, "")))
        return FREE

    def _check(self, node: Node, check: api.Check, arguments: Node) -> Value:
        given = [child for child in arguments.named_children if child.type != "comment"]
        if len(given) <= check.condition or (check.compare and len(given) < 2):
            return FREE
        if check.compare:
            start, end = given[0].start_byte, given[1].end_byte
            decided = truth(certain(computed(check.compare, *self._operands(given[0], given[1]))))
        else:
            start, end = given[check.condition].start_byte, given[check.condition].end_byte
            decided = truth(self.value(given[check.condition]))
        text = self._line(node)
        if self._split(decided, self.may):
            whole = (node.start_byte, node.end_byte) if check.compare else (start, end)
            self.decisions.append(
                Decision("check", self.place(whole[0]), self.place(whole[1]), decided, self.may, failing=text)
            )
        self.may &= ~decided.false
        if not self.may:
            self.exits.fails = True
            self.exits.text = text
        return FREE

    def _lambda(self, node: Node) -> Value:
        """Run where it stands; what it returns is no return of this function."""
        body = node.child_by_field_name("body")
        kept, may, exits = self.returned, self.may, self.exits
        self.returned, self.exits = [], Exits()
        outer, known = dict(self.env), dict(self.facts)
        for parameter in _all(node, {"parameter_declaration"}):
            name = _declared(parameter.child_by_field_name("declarator"))
            if name is not None:
                self.env[self._text(name)] = self._typed(parameter)
        if body is not None:
            self.execute(body)
        changed = self.env
        self.env = {name: value if changed.get(name) == value else FREE for name, value in outer.items()}
        self.returned, self.may, self.exits, self.facts = kept, may, exits, known
        return FREE

    # Text.

    def _text(self, node: Node | None) -> str:
        return "" if node is None else self.text[node.start_byte : node.end_byte].decode("latin-1")

    def _line(self, node: Node) -> str:
        return " ".join(self._text(node).split())[:160]

    def _first(self, node: Node) -> str | None:
        """The first statement of a side."""
        here = node
        while here.type in ("else_clause", "compound_statement"):
            inner = [child for child in here.named_children if child.type != "comment"]
            if not inner:
                return None
            here = inner[0]
        return self._line(here)


def _conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a condition that all have to hold."""
    while node.type in ("parenthesized_expression", "condition_clause") and node.named_child_count == 1:
        node = node.named_children[0]
    sign = node.child_by_field_name("operator")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if sign is not None and sign.type in ("&&", "and") and left is not None and right is not None:
        yield from _conjuncts(left)
        yield from _conjuncts(right)
    else:
        yield node


def _plain(text: str) -> str:
    """An expression without white space, and without parentheses around the whole of it."""
    return bare("".join(text.split()))


def _element(function: str, value: Value) -> Value:
    index = function.partition("<")[2].rstrip("> ")
    if isinstance(value, Several) and index.isdigit() and int(index) < len(value.parts):
        return value.parts[int(index)]
    return FREE


def _all(node: Node, kinds: set[str]) -> Iterator[Node]:
    """The outermost nodes of these kinds."""
    todo = [node]
    while todo:
        here = todo.pop()
        if here.type in kinds:
            yield here
        else:
            todo += reversed(here.named_children)


def _declared(node: Node | None) -> Node | None:
    """The name in a declarator."""
    while node is not None and node.type not in ("identifier", "field_identifier"):
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((child for child in node.named_children if "declarator" in child.type), None)
            inner = inner or next(
                (child for child in node.named_children if child.type == "identifier"), None
            )
        node = inner
    return node


def _assigned(node: Node, text: bytes) -> Iterator[str]:
    """The names that a loop assigns."""
    if node.type in ("assignment_expression", "update_expression"):
        for child in node.named_children[:1]:
            if child.type == "identifier":
                yield text[child.start_byte : child.end_byte].decode("latin-1")
    for child in node.named_children:
        yield from _assigned(child, text)


def _leaves(node: Node | None, text: bytes) -> bool:
    """Whether a statement does nothing but leave a loop, or a function with nothing in hand."""
    while node is not None and node.type == "compound_statement":
        inner = [child for child in node.named_children if child.type != "comment"]
        node = inner[0] if len(inner) == 1 else None
    if node is None:
        return False
    if node.type == "return_statement":
        words = text[node.start_byte : node.end_byte].decode("latin-1").split()
        return " ".join(words) in _NOTHING
    return node.type in ("continue_statement", "break_statement")


def _only(node: Node) -> str:
    """The kind of the only statement of an else clause."""
    inner = [child for child in node.named_children if child.type != "comment"]
    return inner[0].type if len(inner) == 1 else ""


def _next(condition: Node) -> Node | None:
    """The statement after the one that a condition belongs to."""
    here: Node | None = condition
    while here is not None and not here.type.endswith("_statement"):
        here = here.parent
    return here.next_named_sibling if here is not None else None
