"""What public functions and classes do on one host, run once with each choice of back end that they offer."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from analyzer import faults
from analyzer.python import calls, contracts, expressions, library
from analyzer.python.choosers import chooser, original, prefixes
from analyzer.python.library import HOLE
from analyzer.python.machine import STEPS, Budget, Machine
from analyzer.python.observe import Call, Decision, Key, Observer, function_site
from analyzer.python.survey import BUILD_STEPS, HELPER_STEPS, Survey, makes_build
from analyzer.python.values import (
    Choice,
    Class,
    Dict,
    External,
    Free,
    Function,
    Instance,
    List,
    Raised,
    Scope,
    Site,
    Truth,
    Value,
)

AUTO = "auto"
#: What became of a run that was given up.
TOO_LONG = "is too long to be followed to the end"
#: Steps that a call is worth in a trial; what makes a build calls much.
_STEPS = 3 * HELPER_STEPS
#: How many steps lead from the object that stands for a choice to one that is used because a method gave it.
_FURTHER = 2


Asked = tuple[Key, Site | None]
"""A decision on an answer of the device, and the argument that it checks, if it does."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A method (empty: the function itself) that surely raises, with what message and where.

    ``under``: the decisions whose statement holds the place, the innermost first; ``before``: all that were
    taken in the run.
    """

    method: str
    message: str
    site: Site
    under: tuple[Asked, ...]
    before: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A build that was loaded: who makes it, where its flags are given, and those that name architectures.

    ``sure``: it is loaded on every way, and no other in its place. ``chosen``: the decisions on the device
    that its flags hang on. Without flags that name architectures it is compiled for the host's.
    """

    maker: str
    site: Site
    scope: str
    code: str
    flags: tuple[str, ...]
    sure: bool
    chosen: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of one entry with one choice.

    ``stops``: where it surely raises; a class is tried method by method. ``decided``: decisions and arguments
    that were held against the device, with their outcomes. ``exports``: what of which build is called.
    ``compiled``: the builds that were loaded. ``chosen``: what an automatic choice came to. ``cut``: why the
    run was not followed to its end, empty if it was. ``definition``: the dotted name of the function or class
    that was run, empty where several were that ask for a choice. ``outside``: the packages outside the tree
    that decide by architecture themselves and were called. ``behind``: the run of what a server option's
    choice stands for; ``hangs``: the other options by which that chooses what it does.
    """

    entry: str
    definition: str
    choice: str
    site: Site
    stops: tuple[Stop, ...]
    cut: str
    decided: tuple[tuple[Asked, Truth], ...]
    exports: tuple[tuple[str, str], ...]
    compiled: tuple[Compiled, ...]
    chosen: tuple[str, ...]
    outside: tuple[str, ...] = ()
    behind: Trial | None = None
    hangs: tuple[str, ...] = ()


def trials(survey: Survey, public: Mapping[str, tuple[str, ...]]) -> tuple[Trial, ...]:
    """Run public functions and classes, once for each choice that they offer.

    Those of modules in which answers of the device were seen to matter, or that import a function which leads
    to them; not what makes builds, which are told of by themselves.
    """
    m = survey.machine
    saved = m.recorder, m.results, m.follow, m.passed, m.failed, m.limit
    m.passed, m.failed, m.limit = set(), {}, STEPS
    m.follow = follow
    found: list[Trial] = []
    told = _telling_modules(survey)
    try:
        for dotted in sorted(public):
            if dotted.rpartition(".")[0] in told and not _makes_builds(survey, dotted):
                found += _of(m, dotted)
    finally:
        m.recorder, m.results, m.follow, m.passed, m.failed, m.limit = saved
    return tuple(found)


def _telling_modules(survey: Survey) -> set[str]:
    """The modules with functions in whose run decisions were seen, and those that import such functions.

    Functions that only answer are imported nearly everywhere; to import them tells nothing.
    """
    telling = survey.observer.telling
    found = {module for module, _ in telling}
    for module, state in survey.machine.modules.items():
        for value in state.names.values():
            data = value.data
            if not isinstance(data, Function) or (data.module, data.qualname) not in telling:
                continue
            walked = survey.walked.get((data.module, data.qualname))
            if walked is None or walked.value is None or not walked.value.tainted:
                found.add(module)
                break
    return found


def _makes_builds(survey: Survey, dotted: str) -> bool:
    """Whether a function's result, or a class's object, is the description of a build."""
    module, _, name = dotted.rpartition(".")
    walked = survey.walked.get((module, name))
    makes = walked is not None and walked.value is not None and makes_build(walked.value)
    return makes or dotted in contracts.builds() or dotted in contracts.makers()


def follow(function: Function, args: list[Value], keywords: dict[str, Value], tainted: bool) -> int:
    """What a call is worth in a trial: that its arguments are free is no reason to pass over it."""
    return STEPS if tainted else BUILD_STEPS if function.name in contracts.build_words() else _STEPS


def follow_to_builds(
    m: Machine, function: Function, args: list[Value], keywords: dict[str, Value], tainted: bool
) -> int:
    """The same where methods of large objects are run for the builds alone that they lead to.

    What leads to no build is followed a little way: some of it takes more than all else.
    """
    worth = follow(function, args, keywords, tainted)
    if worth > _STEPS:
        return worth
    return BUILD_STEPS if function.dotted in m.leading else HELPER_STEPS


def _of(m: Machine, dotted: str) -> Iterator[Trial]:
    found = _definition(m, dotted)
    if found is None:
        return
    if isinstance(found, Class):
        start = _method(m, found, "__init__")
        methods = [_method(m, found, name) for name in _public_methods(m, found)]
        options = choices(m, start, [method for method in methods if method]) if start is not None else ()
        for choice in options or ("",):
            yield _try_class(m, dotted, found, choice)
    else:
        for choice in choices(m, found) or ("",):
            yield _try(m, dotted, found, choice)


def _definition(m: Machine, dotted: str) -> Function | Class | None:
    """The function or class of that name, if its module was looked at."""
    module, _, name = dotted.rpartition(".")
    state = m.modules.get(module)
    if state is None or name not in state.names:
        return None
    data = m.force(state.names[name]).data
    return data if isinstance(data, (Function, Class)) else None


def _method(m: Machine, owner: Class, name: str) -> Function | None:
    found = expressions.find_in_class(m, owner, name)
    return found.data if found is not None and isinstance(found.data, Function) else None


# Choices.


def choices(m: Machine, function: Function, others: Iterable[Function] = ()) -> tuple[str, ...]:
    """What a function lets its caller choose from.

    In the order of: the default, what is declared, the annotation, what its body (and those of ``others``, of
    the same class) compares it with.
    """
    inner = original(m, function)
    parameter = chooser(inner)
    if parameter is None:
        return ()
    found: dict[str, None] = {}
    default = inner.defaults.get(parameter.arg)
    if default is not None and isinstance(default.data, str):
        found.setdefault(default.data)
    for name in _declared(function):
        found.setdefault(name)
    if parameter.annotation is not None:
        for name in _literals(parameter.annotation):
            found.setdefault(name)
    bodies = [m.body(original(m, one)) for one in (inner, *others)]
    for node in (node for body in bodies for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Compare) and _reads(node.left, parameter.arg):
            for text in _strings(node.comparators[0]):
                found.setdefault(text)
    return tuple(found)


def _declared(function: Function) -> list[str]:
    """The back ends of a table that the decorator holds."""
    scope: Scope | None = function.scope
    for name in contracts.backend_tables():
        value = scope.names.get(name) if scope is not None else None
        outer = scope.parent if scope is not None else None
        while value is None and outer is not None:
            value, outer = outer.names.get(name), outer.parent
        if value is not None and isinstance(value.data, Dict):
            return [key for key in value.data.items if isinstance(key, str)]
    return []


def _literals(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and ast.unparse(inner.value).rpartition(".")[2] == "Literal":
            yield from _strings(inner.slice)


def _strings(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def _reads(node: ast.expr, name: str) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and (
        getattr(node, "attr", getattr(node, "id", "")).lstrip("_") == name
    )


# Runs.


def _arguments(m: Machine, function: Function, choice: str) -> dict[str, Value]:
    """Arguments by name: the choice for the parameter that names it, for others what any caller may give."""
    inner = original(m, function)
    frame = calls.frame_of(m, inner)
    calls.free_arguments(m, inner, frame, None)
    parameter = chooser(inner)
    given = dict(frame.scope.names)
    for kind in (inner.node.args.vararg, inner.node.args.kwarg):
        if kind is not None:
            given.pop(kind.arg, None)
    for node in [*inner.node.args.posonlyargs, *inner.node.args.args, *inner.node.args.kwonlyargs]:
        if node.annotation is not None and isinstance(given[node.arg].data, Free):
            path = _outside(m, node.annotation, frame)
            if path is not None:
                given[node.arg] = library.outside(m, path, {})
    if parameter is not None and choice:
        given[parameter.arg] = Value(choice)
    return given


def _outside(m: Machine, node: ast.expr, frame: object) -> str | None:
    """The class outside the tree that an annotation names."""
    try:
        value = m.evaluate(node, frame)  # type: ignore[arg-type]
    except Raised:
        return None
    return value.data.path if isinstance(value.data, External) else None


def _try(m: Machine, dotted: str, function: Function, choice: str) -> Trial:
    site = function_site(m, original(m, function))
    return _run(m, dotted, function.dotted, choice, site, lambda: _call(m, function, choice, site), [])


def _call(m: Machine, function: Function, choice: str, site: Site) -> list[Value]:
    given = _arguments(m, function, choice)
    if function.stands_for is not None:
        m.call(Value(function), [], given, site)
        return [function.attributes[n] for n in contracts.chosen_attributes() if n in function.attributes]
    frame = calls.frame_of(m, function)
    frame.scope.names.update(given)
    calls.run(m, function, frame)
    return _named_like(frame.scope.names, chooser(function))


def _try_class(m: Machine, dotted: str, owner: Class, choice: str) -> Trial:
    """Make an object and call its public methods, each for itself, in the order in which they are written."""
    file = m.index.path(owner.module)
    site = Site(file, owner.node.lineno, owner.node.end_lineno or owner.node.lineno, 1)
    instance = Instance(owner, {}, symbolic=True, depth=m.depth)
    start = _method(m, owner, "__init__")
    parameter = chooser(original(m, start)) if start is not None else None
    stops: list[Stop] = []

    def use() -> list[Value]:
        if _use(m, instance, "__init__", choice, site, stops) is not None:
            for name in _public_methods(m, owner):
                _use(m, instance, name, "", site, stops)
        return _named_like(instance.attributes, parameter)

    return _run(m, dotted, owner.dotted, choice, site, use, stops)


def _use(
    m: Machine, instance: Instance, name: str, choice: str, site: Site, stops: list[Stop], of: str = ""
) -> Value | None:
    """Call a method on what any caller may give: what it gives back, None if it surely raises.

    Where there is no such method, nothing is given back. ``of`` goes before its name where it raises.
    """
    method = _method(m, instance.of, name)
    if method is None or not _positional(m, method):
        return Value(None)
    given = _arguments(m, method, choice)
    del given[_positional(m, method)]
    if name == "__init__":  # what may be left out is
        defaults = original(m, method).defaults
        optional = {key: value for key, value in defaults.items() if value.data is None}
        given.update({key: value for key, value in optional.items() if key in given})
    assert isinstance(m.recorder, Observer)
    known = len(m.recorder.decisions)
    try:
        return m.call(Value(method), [Value(instance)], given, site)
    except Raised as error:
        stops.append(stop(m, of + name, error, known))
        return None


def behind(
    m: Machine,
    entry: str,
    makers: Sequence[Function | Class],
    site: Site,
    choosers: Mapping[str, tuple[str, ...]],
) -> Trial:
    """Run what stands for a choice: what makes objects, and the methods by which those are used.

    A function that is given free arguments may make one object or another: each is used, as are those that
    the methods give back; one of each class. Every method may take as many steps as a function.
    ``choosers``: the options by which objects choose what they do, by the dotted name of their class.
    """
    stops: list[Stop] = []
    used: set[str] = set()
    hangs: dict[str, None] = {}

    def use() -> list[Value]:
        made = [(option.data, 0) for maker in makers for option in expressions.options(_made(m, maker))]
        while made:
            instance, after = made.pop(0)
            if not isinstance(instance, Instance) or instance.of.dotted in used:
                continue
            used.add(instance.of.dotted)
            for cls in expressions.linear(m, instance.of):
                hangs.update(dict.fromkeys(choosers.get(cls.dotted, ())))
            for name in _interface(m, instance.of):
                given = _use_whole(m, instance, name, site, stops)
                if given is not None and after < _FURTHER:
                    made += ((further.data, after + 1) for further in expressions.options(given))
        return []

    return replace(_run(m, entry, entry, "", site, use, stops), hangs=tuple(hangs))


def asked(m: Machine, entry: str, functions: Sequence[Function], site: Site) -> list[Trial]:
    """Runs of what asks for a choice, each for itself: functions, and objects of classes.

    Of a class whose constructor asks, all methods are called.
    """
    owned: dict[int, tuple[Class, set[str]]] = {}
    parts: list[Trial] = []
    for function in functions:
        if function.owner is not None:
            owned.setdefault(id(function.owner), (function.owner, set()))[1].add(function.name)
        else:
            parts.append(_run(m, entry, function.qualname, "", site, partial(_alone, m, function), []))
    for owner, names in owned.values():
        stops: list[Stop] = []
        use = partial(_by_object, m, owner, names, site, stops)
        parts.append(_run(m, entry, owner.qualname, "", site, use, stops))
    return parts


def using(
    m: Machine, entry: str, make: Callable[[], Instance], names: Sequence[str], site: Site
) -> list[Trial]:
    """Runs of methods, each of an object of its own."""
    parts: list[Trial] = []
    for name in names:
        stops: list[Stop] = []
        use = partial(_method_alone, m, make, name, site, stops)
        parts.append(_run(m, entry, name, "", site, use, stops, handed=True))
    return parts


def _method_alone(
    m: Machine, make: Callable[[], Instance], name: str, site: Site, stops: list[Stop]
) -> list[Value]:
    _use_whole(m, make(), name, site, stops)
    return []


def together(entry: str, site: Site, parts: Sequence[Trial], anyway: frozenset[Site]) -> Trial:
    """Such runs as one. What is stopped at these places is so whatever is chosen, and left out.

    The choice is stopped where all are that lead to builds; where others do work, that is not decided.
    """
    parts = [part for part in parts if not {stop.site for stop in part.stops} & anyway]
    stopped = [part for part in parts if part.stops]
    working = [part for part in parts if not part.stops and (part.exports or part.compiled)]
    cut = next((part.cut for part in parts if part.cut), "")
    if stopped and working:
        cut = f"ends for some of what asks for it ({stopped[0].definition}), and not for all"
    return Trial(
        entry,
        "",
        "",
        site,
        tuple(stop for part in stopped for stop in part.stops) if not working else (),
        cut,
        tuple(sorted({pair for part in parts for pair in part.decided}, key=repr)),
        tuple(sorted({pair for part in parts for pair in part.exports})),
        tuple(sorted({build for part in parts for build in part.compiled}, key=repr)),
        (),
        outside=tuple(sorted({name for part in parts for name in part.outside})),
    )


def _alone(m: Machine, function: Function) -> list[Value]:
    """Run a function on free arguments."""
    return [_made(m, function)]


def _by_object(m: Machine, owner: Class, names: set[str], site: Site, stops: list[Stop]) -> list[Value]:
    """Make an object of a class and call methods of it, each with steps of its own."""
    instance = Instance(owner, {}, symbolic=True, depth=m.depth)
    public = _public_methods(m, owner)
    wanted = _interface(m, owner) if "__init__" in names else [name for name in public if name in names]
    for name in ("__init__", *wanted):
        if _use_whole(m, instance, name, site, stops) is None and name == "__init__":
            break
    return []


def _use_whole(m: Machine, instance: Instance, name: str, site: Site, stops: list[Stop]) -> Value | None:
    """Call a method with steps of its own, and follow it as far as what is run for itself."""
    function = _method(m, instance.of, name)
    m.steps = 0
    usual = m.follow
    m.follow = lambda called, *rest: STEPS if called is function else usual(called, *rest)
    try:
        return _use(m, instance, name, "", site, stops, f"{instance.of.qualname}.")
    finally:
        m.follow = usual


def _made(m: Machine, maker: Function | Class) -> Value:
    """An object of a class, or what a function gives for free arguments."""
    if isinstance(maker, Class):
        return calls.symbolic_instance(m, maker)
    frame = calls.frame_of(m, maker)
    calls.free_arguments(m, maker, frame, None)
    return calls.run(m, maker, frame)


def _positional(m: Machine, method: Function) -> str:
    """The name of the first parameter, empty if there is none."""
    spec = original(m, method).node.args
    return next((parameter.arg for parameter in [*spec.posonlyargs, *spec.args]), "")


def stop(m: Machine, method: str, error: Raised, known: int) -> Stop:
    """``known``: how many decisions had been seen before the method was called."""
    assert isinstance(m.recorder, Observer)
    own = list(m.recorder.decisions.values())[known:]
    under = [decision for decision in own if _holds(decision, error.site)]
    under.sort(key=lambda decision: -decision.site.line)
    message = error.message.replace(HOLE, "…")
    return Stop(method, message, error.site, tuple(map(_asked, under)), tuple(map(_asked, own)))


def _holds(decision: Decision, place: Site) -> bool:
    """Whether a place stands in the statement that a decision is taken for."""
    owner = decision.owner
    if not isinstance(owner, ast.stmt) or decision.site.file != place.file:
        return False
    return owner.lineno <= place.line <= (owner.end_lineno or owner.lineno)


def _asked(decision: Decision) -> Asked:
    return decision.key, decision.argument.site if decision.argument is not None else None


def _public_methods(m: Machine, owner: Class) -> list[str]:
    """The names of methods that a user calls, in order; not those that only say what an object holds."""
    found: dict[str, None] = {}
    for cls in expressions.linear(m, owner):
        for name, value in cls.attributes.items():
            if isinstance(value.data, Function) and (not name.startswith("_") or name == "__call__"):
                found.setdefault(name)
    return list(found)


def _named_like(names: Mapping[str, Value], parameter: ast.arg | None) -> list[Value]:
    """What is kept under the name of the parameter that chooses."""
    if parameter is None:
        return []
    return [value for name, value in names.items() if name.strip("_") in (parameter.arg, f"{parameter.arg}s")]


def _interface(m: Machine, owner: Class) -> list[str]:
    """The methods by which an object is used that one of several tables' classes makes.

    Whoever chooses among classes knows what their bases declare; where there are none, all that is public.
    """
    declared = {name for base in expressions.linear(m, owner)[1:] for name in base.attributes}
    public = _public_methods(m, owner)
    return [name for name in public if name in declared] or public


def _run(
    m: Machine,
    dotted: str,
    definition: str,
    choice: str,
    site: Site,
    use: Callable[[], list[Value]],
    stops: list[Stop],
    handed: bool = False,
) -> Trial:
    observer = Observer(explaining=False)
    m.recorder, m.results = observer, {}
    m.steps, m.may_raise, m.loaded, m.forks = 0, False, [], 0
    cut = ""
    chosen: list[Value] = []
    with m.rooted(("", "")), m.aside():
        try:
            chosen = use()
        except Raised as error:
            stops.append(stop(m, "", error, 0))
        except (Budget, RecursionError):
            cut = TOO_LONG
        except Exception as error:  # it costs this trial, which is told, and not the report
            cut = f"ended in an {faults.tolerated(error)}"
    return Trial(
        dotted,
        definition,
        choice,
        site,
        tuple(stops),
        cut,
        tuple(sorted(decided(observer), key=repr)),
        exported(observer, handed),
        compiled(m),
        tuple(dict.fromkeys(texts(chosen))) if choice == AUTO else (),
        outside(observer),
    )


def outside(observer: Observer) -> tuple[str, ...]:
    """The packages outside the tree that decide by architecture themselves and were called."""
    return tuple(sorted({call.package for call in observer.calls if call.package is not None}))


def compiled(m: Machine) -> tuple[Compiled, ...]:
    """The builds that were loaded since the trial began, with the flags that name architectures."""
    assert isinstance(m.recorder, Observer)
    found: dict[Compiled, None] = {}
    for value, sure in m.loaded:
        options = value.data.options if isinstance(value.data, Choice) else (value,)
        made = [_compiled(m, m.recorder, option, sure and len(options) == 1) for option in options]
        known = [one for one in made if one is not None]
        if len(known) == len(made) and (len(known) == 1 or all(one.flags for one in known)):
            found.update(dict.fromkeys(known))  # else one of them goes by the architectures of the host
    return tuple(sorted(found, key=repr))


def _compiled(m: Machine, observer: Observer, value: Value, sure: bool) -> Compiled | None:
    """A build whose flags are all known and name architectures or hang on a decision; None for others."""
    build = value.data
    contract = contracts.builds().get(build.of.dotted) if isinstance(build, Instance) else None
    if contract is None or build.maker is None:
        return None
    flags = build.attributes.get(contract.flags)
    if flags is None or not isinstance(flags.data, List) or flags.data.open:
        return None
    known = [item.data for item in flags.data.items if isinstance(item.data, str)]
    naming = tuple(text for text in known if "arch" in text or "gencode" in text)
    sources = [source for source in (flags.source, *(item.source for item in flags.data.items)) if source]
    chosen = frozenset[Key]().union(*(observer.gates_of(source) for source in sources))
    if len(known) < len(flags.data.items) or not (naming or chosen):
        return None
    site, scope, code = _flags_given(m, observer, build.maker, contract.flags)
    return Compiled(build.maker, site, scope, code, naming, sure, tuple(sorted(chosen)))


def _flags_given(m: Machine, observer: Observer, maker: str, argument: str) -> tuple[Site, str, str]:
    """Where a build is given its flags: an argument in its maker or in what that calls, else the maker."""
    following: dict[str, list[Call]] = {}
    for call in observer.calls:
        following.setdefault(call.caller, []).append(call)
    waiting, seen = [maker], {maker}
    while waiting:
        name = waiting.pop(0)
        for call in sorted(
            following.get(name, ()), key=lambda call: (call.site.file, call.site.line, call.callee)
        ):
            if call.callee in contracts.makers():
                module = next((prefix for prefix in prefixes(name) if prefix in m.defined), "")
                scope = name[len(module) + 1 :]
                site, code = _argument(m, module, scope, call.site, argument)
                return site, scope, code
            if call.callee not in seen:
                seen.add(call.callee)
                waiting.append(call.callee)
    return observer.functions.get(maker, Site("", 1, 1, 1)), maker, maker


def _argument(m: Machine, module: str, scope: str, site: Site, name: str) -> tuple[Site, str]:
    """The keyword argument of a call, or the call itself where it has none of that name."""
    function = m.defined.get(module, {}).get(scope)
    for statement in m.body(function) if function is not None else ():
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and (node.lineno, node.col_offset + 1) == (site.line, site.column):
                for keyword in node.keywords:
                    if keyword.arg == name:
                        place = Site(
                            site.file,
                            keyword.lineno,
                            keyword.end_lineno or keyword.lineno,
                            keyword.col_offset + 1,
                        )
                        return place, f"{name}={ast.unparse(keyword.value)}"
                return site, ast.unparse(node)
    return site, name


def exported(observer: Observer, handed: bool = False) -> tuple[tuple[str, str], ...]:
    """What of which build was called: the function that makes the build, and the export's name.

    ``handed``: what was handed on to be called counts, too.
    """
    kinds = ("exports", "hands") if handed else ("exports",)
    pairs = {call.callee.partition("\0")[::2] for call in observer.calls if call.kind in kinds}
    return tuple(sorted(pairs))


def decided(observer: Observer) -> Iterator[tuple[Asked, Truth]]:
    """The decisions of a run and how each came out; free if it came out one way and the other."""
    for decision in observer.decisions.values():
        outcomes = decision.outcomes
        if Truth.UNKNOWN in outcomes:
            yield _asked(decision), Truth.UNKNOWN
        else:
            yield _asked(decision), next(iter(outcomes)) if len(outcomes) == 1 else Truth.FREE


def texts(values: Iterable[Value]) -> Iterator[str]:
    """The names of back ends among some values and what they hold."""
    for value in values:
        data = value.data
        if isinstance(data, Choice):
            yield from texts(data.options)
        elif isinstance(data, List):
            yield from texts(data.items)
        elif isinstance(data, tuple):
            yield from texts(data)
        elif isinstance(data, str) and data != AUTO:
            yield data
