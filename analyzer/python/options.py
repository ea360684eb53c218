"""What each choice of a server option does on one host: the code that reads it, run with the option given."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial

from analyzer import faults
from analyzer.python import calls, contracts, held, kept
from analyzer.python.frames import Frame
from analyzer.python.machine import STEPS, Budget, Machine, Unset
from analyzer.python.observe import Observer
from analyzer.python.survey import Survey, ast_name
from analyzer.python.trials import (
    TOO_LONG,
    Asked,
    Stop,
    Trial,
    asked,
    behind,
    decided,
    exported,
    follow,
    follow_to_builds,
    stop,
    texts,
    together,
    using,
)
from analyzer.python.values import (
    Class,
    Dict,
    Free,
    Function,
    Instance,
    List,
    Raised,
    Set,
    Site,
    Truth,
    Value,
    is_constant,
    same,
)

Choice = str | bool
"""What an option may be given: one of its choices, or that it is given at all."""
Table = Mapping[Choice, Function | Class]
Makers = tuple[Function | Class, ...]
"""What tables hold for a choice."""

#: A table is one of choices if it shares at least so many keys with them, and half of the fewer of the two.
_SHARED = 3


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its name after the program's, the attribute that keeps its value, where it stands first.

    ``modules``: all that declare it. ``common``: its attribute's name stands in so many files that
    whose it is cannot be told by name alone.
    """

    name: str
    attribute: str
    file: str
    line: int
    modules: tuple[str, ...]
    common: bool = False


def option_trials(
    survey: Survey, options: Sequence[Option], words: Mapping[str, frozenset[str]], members: bool = True
) -> tuple[Trial, ...]:
    """Run what reads each option, once for each of its choices; without those that no decision reads.

    ``words``: file to the identifiers in it. ``members``: what asks for a choice that is kept as a member of
    an enumeration is run, too.
    """
    if not options:
        return ()
    m = survey.machine
    readers = _readers(survey)
    saved = m.recorder, m.results, m.passed, m.failed, m.limit, m.symbolic
    m.passed, m.failed, m.limit = set(), {}, STEPS
    found: list[Trial] = []
    read: dict[str, dict[str, Declared]] = {}
    stood: dict[Makers, Trial] = {}
    unset = _defaults(m, options)
    placed: dict[str, set[Choice]] = {}
    for _, name, text in survey.observer.placed:
        placed.setdefault(name, set()).add(text)
    attributes = frozenset(option.attribute for option in options)
    keepers = cache(lambda: held.held(m, attributes, words))
    choosers = cache(lambda: _choosers(m, options, keepers(), read))
    try:
        for option in options:
            reading = readers.get(option.attribute, [])
            offered = _choices(m, option, read)
            tables = _tables(m, offered, words)
            alone = members and not option.common and not tables
            kept_as = _members(m, option, offered, words) if alone else {}
            if option.common:  # whose attribute it is must be plain
                reading = [
                    function
                    for function in reading
                    if function.owner is not None and option.attribute in function.owner.fields
                ]
            if alone and not kept_as:
                given = [choice for choice in offered if choice in placed.get(option.attribute, ())]
                kept_as = _held(m, option, given, keepers(), unset) if given else {}
            if reading or tables or kept_as:
                found += _try(survey, option, offered, reading, tables, stood, kept_as, unset, choosers)
    finally:
        m.assumed, m.unset = {}, None
        m.recorder, m.results, m.passed, m.failed, m.limit, m.symbolic = saved
    return tuple(found)


def _readers(survey: Survey) -> dict[str, list[Function]]:
    """The functions in which an answer of the device decides under a condition on an attribute, by it."""
    m = survey.machine
    found: dict[str, list[Function]] = {}
    for (module, qualname), decisions in sorted(survey.observer.within.items(), key=lambda item: item[0]):
        function = m.defined.get(module, {}).get(qualname)
        if function is None:
            continue
        lines = {decision.site.line for decision in decisions}
        names: set[str] = set()
        for statement in m.body(function):
            _conditions(statement, frozenset(), lines, names)
        for name in names:
            found.setdefault(name, []).append(function)
    return found


def _conditions(node: ast.AST, above: frozenset[str], lines: set[int], names: set[str]) -> None:
    """Collect the attributes read by conditions in or around the lines on which something is decided."""
    own = above
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        own = above | {inner.attr for inner in ast.walk(node.test) if isinstance(inner, ast.Attribute)}
    elif isinstance(node, ast.BoolOp):
        own = above | {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
    if getattr(node, "lineno", None) in lines:
        names |= own
    for child in ast.iter_child_nodes(node):
        _conditions(child, own, lines, names)


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration of an option: its text, on which line, its choices, whether it is only switched on."""

    text: str
    line: int
    choices: ast.expr | None
    switch: bool


def fields(module: ast.Module) -> Iterator[Declared]:
    """The options that classes of a module declare by annotations of their fields, under the field's name.

    Such as ``use_fast: Annotated[bool, Arg(help="...")] = False``, or with a text alone in place of the call.
    """
    for owner in module.body:
        for node in owner.body if isinstance(owner, ast.ClassDef) else ():
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found = _annotated(node.target.id, node.annotation)
                if found is not None:
                    yield found


def _annotated(name: str, annotation: ast.expr) -> Declared | None:
    parts = annotation.slice if isinstance(annotation, ast.Subscript) else None
    if not isinstance(parts, ast.Tuple) or len(parts.elts) < 2:
        return None
    kind, text = parts.elts[0], "--" + name.replace("_", "-")
    switch = isinstance(kind, ast.Name) and kind.id == "bool"
    told = [part.value for part in parts.elts[1:] if isinstance(part, ast.Constant)]
    choices = _literal(kind)
    for part in parts.elts[1:]:
        contract = contracts.option_fields().get(ast_name(part.func)) if isinstance(part, ast.Call) else None
        if contract is None:
            continue
        assert isinstance(part, ast.Call)
        given = {keyword.arg: keyword.value for keyword in part.keywords}
        named = given.get(contract.name)
        other = named is not None and not (isinstance(named, ast.Constant) and named.value in (text, None))
        if other or contract.hidden in given:
            return None  # it is kept under another name, or no user gives it
        return Declared(text, part.lineno, given.get(contract.choices, choices), switch)
    if any(isinstance(one, str) for one in told):
        return Declared(text, annotation.lineno, choices, switch)
    return None


def _literal(kind: ast.expr) -> ast.expr | None:
    """The values that a type lists: those of ``Literal["a", "b"]``."""
    if not isinstance(kind, ast.Subscript):
        return None
    name = ast_name(kind.value)
    if name == "Optional":
        return _literal(kind.slice)
    return kind.slice if name == "Literal" and isinstance(kind.slice, ast.Tuple) else None


def _choices(m: Machine, option: Option, read: dict[str, dict[str, Declared]]) -> list[Choice]:
    """What an option may be given: its choices, or that it is given at all; empty for free values.

    ``read``: the declarations of the modules that were read before.
    """
    found: dict[Choice, None] = {}
    for module in option.modules:
        if module not in read:
            read[module] = _declarations(m, module)
        for choice in _declared(m, module, read[module], option.name.partition(" ")[2]):
            found.setdefault(choice)
    return list(found)


def _declared(m: Machine, module: str, declarations: Mapping[str, Declared], text: str) -> list[Choice]:
    """The choices of an option in one module that declares it."""
    found = declarations.get(text)
    if found is None:
        return []
    if found.choices is not None:
        state = m.state(module)
        frame = Frame(state, "", state.scope, is_module=True)
        try:
            with m.own_steps():
                return _names(m.evaluate(found.choices, frame))
        except (Raised, Budget):
            return []
    return [True] if found.switch else []


def _declarations(m: Machine, module: str) -> dict[str, Declared]:
    """What a module first says of each option, by the option's text."""
    source = m.state(module).source
    found: dict[str, Declared] = {}
    for node in (node for function in kept.functions(m, module) for node in m.nodes(function)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            for one in _added(node):
                found.setdefault(one.text, one)
    for one in fields(source.parsed.module):
        found.setdefault(one.text, one)
    return found


def _added(node: ast.Call) -> Iterator[Declared]:
    """What a call of ``add_argument`` declares, under each of its texts."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    action = given.get("action")
    switch = isinstance(action, ast.Constant) and action.value == "store_true"
    for argument in node.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield Declared(argument.value, node.lineno, given.get("choices"), switch)


def _names(value: Value) -> list[Choice]:
    data = value.data
    if isinstance(data, List):
        return [item.data for item in data.items if isinstance(item.data, str)]
    if isinstance(data, Set):
        return sorted(key for key in data.items if isinstance(key, str))
    if isinstance(data, Dict):
        return [key for key in data.items if isinstance(key, str)]
    if isinstance(data, tuple):
        return [item.data for item in data if isinstance(item.data, str)]
    return []


def _tables(m: Machine, offered: Iterable[Choice], words: Mapping[str, frozenset[str]]) -> list[Table]:
    """Tables of modules whose keys are the choices: the functions and classes that they hold.

    What a walk of a function on free arguments has put in the place of one is passed over.
    """
    wanted = {choice for choice in offered if isinstance(choice, str)}
    if len(wanted) < _SHARED:
        return []
    named = {choice for choice in wanted if choice.isidentifier()}
    found: list[Table] = []
    for module, source in sorted(m.index.sources.items()):
        if len(named & words.get(source.file, frozenset())) < max(_SHARED, len(named) // 3):
            continue
        state = m.state(module)
        for name, value in state.names.items():
            data = value.data
            keys = set(map(str, data.items)) if isinstance(data, Dict) else set()
            shared = len(wanted & keys)
            if shared < _SHARED or 2 * shared < min(len(wanted), len(keys)):
                continue
            every = [*data.items.items(), *state.held.get(name, {}).items()]
            table = {key: item.data for key, (_, item) in every if isinstance(item.data, (Function, Class))}
            if len(table) >= _SHARED:
                found.append(table)
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """What one function did with one choice."""

    stops: tuple[Stop, ...]
    decided: tuple[tuple[Asked, Truth], ...]
    exports: tuple[tuple[str, str], ...]
    became: tuple[str, ...]
    cut: str


def _try(
    survey: Survey,
    option: Option,
    offered: Sequence[Choice],
    readers: Sequence[Function],
    tables: Sequence[Table],
    stood: dict[Makers, Trial],
    members: Mapping[Choice, Trial],
    unset: Mapping[str, Value],
    choosers: Callable[[], Mapping[str, tuple[str, ...]]],
) -> Iterator[Trial]:
    """One trial for each choice; choices that a function does not mention are all the same to it.

    ``stood``: the runs of what choices of other options stand for; ``members``: of what asks for a choice
    that is kept as a member of an enumeration; ``unset``: what is kept for options that are not given;
    ``choosers`` tells by which options objects choose what they do: a search, made if it is asked for.
    """
    m = survey.machine
    mentioned = [(function, _mentioned(m, function)) for function in readers]
    known: dict[tuple[int, Choice | None], _Part] = {}
    site = Site(option.file, option.line, option.line, 1)
    for choice in offered:
        parts = []
        for function, names in mentioned:
            key = id(function), choice if choice in names or choice is True else None
            if key not in known:
                known[key] = _part(survey, function, option, choice, unset)
            parts.append(known[key])
        became = dict.fromkeys(text for part in parts for text in part.became if text != choice)
        yield Trial(
            option.name,
            option.name,
            choice if isinstance(choice, str) else "",
            site,
            tuple(stop for part in parts for stop in part.stops),
            next((part.cut for part in parts if part.cut), ""),
            tuple(sorted({pair for part in parts for pair in part.decided}, key=repr)),
            tuple(sorted({pair for part in parts for pair in part.exports})),
            (),
            tuple(became),
            behind=_behind(m, option, choice, tables, stood, choosers) or members.get(choice),
        )


def _behind(
    m: Machine,
    option: Option,
    choice: Choice,
    tables: Sequence[Table],
    known: dict[Makers, Trial],
    choosers: Callable[[], Mapping[str, tuple[str, ...]]],
) -> Trial | None:
    """The run of what tables hold for a choice; the same for every option that is served by them."""
    makers = tuple(table[choice] for table in tables if choice in table)
    if not makers or not isinstance(choice, str):
        return None
    if makers not in known:
        site, by_options = Site(option.file, option.line, option.line, 1), choosers()
        with _afresh(m):
            known[makers] = behind(m, option.name, makers, site, by_options)
    return known[makers]


@contextmanager
def _afresh(m: Machine, following: calls.Follow = follow) -> Iterator[None]:
    """Run what stands behind a choice: as an API is followed, with new objects, and no option given."""
    followed, m.follow, m.assumed, m.symbolic = m.follow, following, {}, {}
    try:
        yield
    finally:
        m.follow = followed


def _members(
    m: Machine, option: Option, offered: Sequence[Choice], words: Mapping[str, frozenset[str]]
) -> dict[Choice, Trial]:
    """By choice, the run of what asks for it where it is kept as a member of an enumeration.

    What is stopped under another choice as well, is not stopped by this one.
    """
    found: dict[Choice, Trial] = {}
    site = Site(option.file, option.line, option.line, 1)
    for one in kept.kept(m, option.attribute, words):
        asking = kept.asking(m, one, words)
        users: dict[Choice, tuple[Value, list[Function]]] = {}
        for choice in offered:
            value = kept.member(m, one, choice) if isinstance(choice, str) else None
            if value is not None and not isinstance(value.data, Free):
                names = kept.true_of(m, one, value)
                users[choice] = value, [function for function, wanted in asking if wanted & names]
        runs = {choice: _with(m, one, value, option, own, site) for choice, (value, own) in users.items()}
        for choice, (_, own) in users.items():
            other = next((value for name, (value, _) in users.items() if name != choice), None)
            if not own or other is None:
                continue
            stopped = any(part.stops for part in runs[choice])
            beside = _with(m, one, other, option, own, site) if stopped else []
            anyway = frozenset(stop.site for part in beside for stop in part.stops)
            found[choice] = together(option.name, site, runs[choice], anyway)
    return found


def _held(
    m: Machine,
    option: Option,
    given: Sequence[Choice],
    keepers: Sequence[held.Held],
    unset: Mapping[str, Value],
) -> dict[Choice, Trial]:
    """By choice that some decision gives the option, the run of what objects do that keep it.

    What they do, and where they are stopped, if the option is not given is none of the choice's.
    """
    found: dict[Choice, Trial] = {}
    site = Site(option.file, option.line, option.line, 1)
    own = [one for one in keepers if option.attribute in one.options.values()]
    if not own or option.attribute not in unset:
        return found
    anyway = _by_keepers(m, option, unset[option.attribute], own, unset, site)
    stopped = frozenset(stop.site for part in anyway for stop in part.stops)
    decided_anyway = {pair for part in anyway for pair in part.decided}
    exports = {pair for part in anyway for pair in part.exports}
    compiled = {build for part in anyway for build in part.compiled}
    for choice in given:
        parts = [
            replace(
                part,
                decided=tuple(pair for pair in part.decided if pair not in decided_anyway),
                exports=tuple(pair for pair in part.exports if pair not in exports),
                compiled=tuple(build for build in part.compiled if build not in compiled),
            )
            for part in _by_keepers(m, option, Value(choice), own, unset, site)
        ]
        found[choice] = together(option.name, site, parts, stopped)
    return found


def _choosers(
    m: Machine,
    options: Sequence[Option],
    keepers: Sequence[held.Held],
    read: dict[str, dict[str, Declared]],
) -> dict[str, tuple[str, ...]]:
    """The options by which objects choose what they do, by the dotted name of their class.

    Those that objects keep from when they are made, and of which some method that reads them names two.
    """
    offered = {
        option.attribute: (option.name, set(_choices(m, option, read)))
        for option in options
        if not option.common
    }
    found: dict[str, tuple[str, ...]] = {}
    for one in keepers:
        for name, attribute in one.options.items():
            option, choices = offered.get(attribute, ("", set()))
            methods = (
                one.of.attributes[method].data
                for method in held.users(m, one, name)
                if method in one.of.attributes
            )
            if any(len(_mentioned(m, method) & choices) > 1 for method in methods):
                found[one.of.dotted] = (*found.get(one.of.dotted, ()), option)
    return found


def _by_keepers(
    m: Machine,
    option: Option,
    choice: Value,
    keepers: Sequence[held.Held],
    unset: Mapping[str, Value],
    site: Site,
) -> list[Trial]:
    """The runs of methods of objects that keep a choice, and what other options are if they are not given."""
    given = {**unset, option.attribute: choice}
    parts: list[Trial] = []
    with _afresh(m, partial(follow_to_builds, m)):
        for one in keepers:
            names = [name for name, kept_option in one.options.items() if kept_option == option.attribute]
            methods = dict.fromkeys(method for name in names for method in held.users(m, one, name))
            parts += using(m, option.name, partial(held.made, m, one, given), list(methods), site)
    return parts


def _with(
    m: Machine, one: kept.Kept, value: Value, option: Option, users: Sequence[Function], site: Site
) -> list[Trial]:
    """The runs of functions while a module keeps a member."""
    with _afresh(m), kept.given(m, one, value):
        return asked(m, option.name, users, site)


def _mentioned(m: Machine, function: Function) -> set[Choice]:
    """The texts that a function's code holds, itself or by the name of a container in its module."""
    found: set[Choice] = set()
    names = m.state(function.module).names
    for node in m.nodes(function):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.Name) and node.id in names:
            found.update(_names(names[node.id]))
    return found


def _part(
    survey: Survey, target: Function, option: Option, choice: Choice, unset: Mapping[str, Value]
) -> _Part:
    m = survey.machine
    observer = Observer(explaining=False)
    m.recorder, m.results, m.symbolic = observer, {}, {}
    m.assumed = {} if option.common else {option.attribute: Value(choice)}
    m.unset = others = Unset(unset, target.node, frozenset(_asked_for(m, target, option.attribute)))
    usual = m.follow
    m.follow = lambda function, args, keywords, tainted: (
        follow if others.given([*args, *keywords.values()]) else usual
    )(function, args, keywords, tainted)
    m.steps = 0
    stops: tuple[Stop, ...] = ()
    after: list[Value] = []
    cut = ""
    with m.rooted(("", "")), m.aside():
        try:
            after = _run(m, target, option.attribute, choice)
        except Raised as error:
            walked = survey.walked.get((target.module, target.qualname))
            if walked is None or walked.raised is None:  # else it raises whatever is chosen
                stops = (stop(m, target.dotted, error, 0),)
        except (Budget, RecursionError):
            cut = TOO_LONG
        except Exception as error:  # it costs this trial, which is told, and not the report
            cut = f"ended in an {faults.tolerated(error)}"
    m.unset, m.follow = None, usual
    return _Part(stops, tuple(decided(observer)), exported(observer), tuple(texts(after)), cut)


def _defaults(m: Machine, options: Iterable[Option]) -> dict[str, Value]:
    """By attribute, what the classes that declare options keep where none is given, as far as all agree."""
    attributes = {option.attribute for option in options}
    found: dict[str, list[Value]] = {}
    for module in dict.fromkeys(name for option in options for name in option.modules):
        for owner in m.state(module).source.parsed.module.body:
            fields = [
                (node.target.id, node.value)
                for node in (owner.body if isinstance(owner, ast.ClassDef) else ())
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
            ]
            if any(name in attributes for name, _ in fields):
                for name, value in fields:
                    known = value.value if isinstance(value, ast.Constant) else Free(name)
                    found.setdefault(name, []).append(Value(known))
    return {
        name: values[0]
        for name, values in found.items()
        if is_constant(values[0].data) and all(same(values[0], other) for other in values)
    }


def _asked_for(m: Machine, function: Function, attribute: str) -> Iterator[str]:
    """The texts of what a function asks for an attribute."""
    for node in m.nodes(function):
        if isinstance(node, ast.Attribute) and node.attr == attribute:
            yield ast.unparse(node.value)


def _run(m: Machine, function: Function, attribute: str, choice: Choice) -> list[Value]:
    """Run a function on free arguments; gives back what its receiver keeps under the option's name then.

    Where the receiver's class has the option as a field, the others have their defaults: it is given alone.
    """
    frame = calls.frame_of(m, function)
    receiver: Instance | None = None
    if function.owner is not None and "self" in {arg.arg for arg in function.node.args.args[:1]}:
        owner = function.owner
        known = calls.symbolic_instance(m, owner).data
        receiver = Instance(owner, dict(known.attributes), symbolic=True, depth=m.depth)
        if attribute in owner.fields:
            for name in owner.fields:
                default = owner.attributes.get(name)
                if default is not None and is_constant(default.data):
                    receiver.attributes[name] = default
            receiver.attributes[attribute] = Value(choice)
    calls.free_arguments(m, function, frame, Value(receiver) if receiver is not None else None)
    calls.run(m, function, frame)
    if receiver is None or attribute not in receiver.attributes:
        return []
    return [receiver.attributes[attribute]]
