"""One host's decisions as plain data: what came out, by which way, what each side would do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzer.model import Step
from analyzer.python import claims, registries, sides
from analyzer.python.admitted import Admitted
from analyzer.python.launches import Launch
from analyzer.python.lists import ArchList
from analyzer.python.observe import Call, Decision, Key, Observer, Placed, Switched, shown
from analyzer.python.sides import Shape
from analyzer.python.survey import Survey
from analyzer.python.tiles import Tiles
from analyzer.python.toolkits import Asked, Refused
from analyzer.python.values import Origin, Provenance, Site, Truth, Value, settled

#: Places of a ``because`` chain that are kept.
CHAIN = 24

Place = tuple[Key, Site | None]
"""A decision, or (with a site) one argument that it checks."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One decision on one host.

    ``direct``: a device answer reaches it without passing another decision; ``through``: the decisions
    that it passes. ``raised``: the message with which its raising side was seen to raise.
    """

    outcome: Truth
    direct: bool
    through: frozenset[Key]
    because: tuple[Step, ...]
    why: str
    mixed: bool
    parts: tuple[tuple[str, str], ...]
    raised: str | None = None


@dataclass(frozen=True, slots=True)
class Static:
    """One decision as it is written, the same on every host."""

    key: Key
    site: Site
    kind: str
    scope: str
    module: str
    shape: Shape
    argument: Site | None = None
    argument_code: str = ""
    argument_scope: str = ""
    argument_module: str = ""
    decorator: bool = False
    decorates: str = ""
    """What the decorator with the argument stands on: a function or class, by its name inside the module."""
    reads: frozenset[str] = frozenset()
    """Attribute names and strings that stand in the condition."""
    function: str = ""
    """The dotted name of the function that holds it, empty in a module's own code."""
    answers: bool = False
    """The function does nothing but find an answer; ``truth``: that surely is a truth value."""
    truth: bool = False
    listed: bool = False
    """The argument is no argument, but what a class body lists."""
    conjunction: bool = False
    """It is made of parts that ``and`` joins."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a function gave on free arguments: its value for people, or how it raises."""

    dotted: str
    site: Site
    value: str | None
    raised: str | None
    raised_site: Site | None
    tainted: bool
    boolean: bool
    """The value is true or false, nothing else."""
    module: str
    scope: str
    refusal: str = ""
    """The line that raises, where no decision on the device leads to it."""


@dataclass(slots=True)
class Findings:
    """Everything one host tells; picklable."""

    arch: str
    answers: dict[Place, Answer] = field(default_factory=dict)
    statics: dict[Place, Static] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    functions: dict[str, Site] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    variables: dict[str, tuple[Site, str]] = field(default_factory=dict)
    locals: dict[tuple[str, Site], str] = field(default_factory=dict)
    """Local names that are bound to an answer of the device, by assignment, with its truth."""
    expressions: dict[str, set[Key]] = field(default_factory=dict)
    unresolved: tuple[tuple[Site, str, str], ...] = ()
    tiles: tuple[Tiles, ...] = ()
    launches: tuple[Launch, ...] = ()
    lists: tuple[ArchList, ...] = ()
    asked: tuple[Asked, ...] = ()
    refused: tuple[Refused, ...] = ()
    admitted: tuple[Admitted, ...] = ()
    surely: dict[str, tuple[tuple[str, Site], ...]] = field(default_factory=dict)
    """Operations of kernel languages that a function, by its dotted name, calls on every way."""
    registered: tuple[registries.Told, ...] = ()
    switched: tuple[Switched, ...] = ()
    sure: dict[str, tuple[tuple[str, Site], ...]] = field(default_factory=dict)
    """What a function, by its dotted name, calls on every way: functions of the tree, and what is outside."""
    passed: frozenset[tuple[str, int]] = frozenset()
    failed: dict[tuple[str, int], str] = field(default_factory=dict)
    """Sides of decisions (file and mark) that ended without raising, and that raised, with the message."""
    placed: tuple[Placed, ...] = ()
    """The texts, or true, that attributes and items were given by decisions."""
    cut: frozenset[str] = frozenset()
    """Functions whose walk came to no end: of what was not reached in them nothing is known."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one host did with the sides of decisions in one file, by their marks."""

    told: Findings
    file: str

    def ran(self, mark: int) -> bool:
        """Whether a side was run."""
        return (self.file, mark) in self.told.passed or (self.file, mark) in self.told.failed

    def fails(self, mark: int) -> str | None:
        """The message with which a side raised whenever it was run, if it did."""
        place = self.file, mark
        return None if place in self.told.passed else self.told.failed.get(place)

    def decided(self, line: int, column: int) -> bool | None:
        """How the test that stands there came out, if a device answer has a part in it and it is known."""
        answer = self.told.answers.get(((self.file, line, column, "if"), None))
        if answer is None or answer.outcome not in (Truth.TRUE, Truth.FALSE):
            return None
        return answer.outcome is Truth.TRUE


def collect(survey: Survey, arch: str) -> Findings:
    """Turn the observations of one host into plain data.

    The way from each decision back to the doors is told where the observer explains.
    """
    found = Findings(arch)
    observer, m = survey.observer, survey.machine
    texts = _Texts(survey)
    raised = {
        walked.raised.site: walked.raised.message
        for walked in survey.walked.values()
        if walked.raised is not None
    }
    for decision in observer.decisions.values():
        place = (decision.key, decision.argument.site if decision.argument is not None else None)
        found.answers[place] = _answer(decision, texts, raised, observer.explaining)
        found.statics[place] = _static(decision, survey)
        found.expressions.setdefault(decision.site.file, set()).add(decision.key)
    found.calls = tuple(observer.calls)
    found.functions = dict(observer.functions)
    found.tiles = tuple(observer.tiles)
    found.launches = tuple(observer.launches)
    found.lists = tuple(observer.lists)
    found.asked = tuple(observer.asked)
    found.placed = tuple(observer.placed)
    found.refused = tuple(observer.refusals)
    found.switched = tuple(observer.switched)
    found.admitted = tuple(observer.admitted)
    saved = m.recorder, m.passed, m.failed
    m.recorder, m.passed, m.failed = Observer(explaining=False), set(), {}
    entries = [*registries.answers(m, observer.registered), *claims.answers(m, observer.claims)]
    found.registered = tuple(entries)
    m.recorder, m.passed, m.failed = saved
    for (module, qualname), walked in survey.walked.items():
        function = m.defined[module][qualname]
        if (module, qualname) in observer.surely:
            found.surely[function.dotted] = tuple(observer.surely[module, qualname])
        if (module, qualname) in observer.sure:
            found.sure[function.dotted] = tuple(observer.sure[module, qualname])
        value = walked.value
        error = walked.raised
        found.outcomes[function.dotted] = Outcome(
            function.dotted,
            walked.site,
            shown_fully(value) if value is not None else None,
            error.message if error is not None else None,
            error.site if error is not None else None,
            value is not None and value.tainted and value.source is not None and value.source.direct,
            value is not None and isinstance(value.data, bool),
            module,
            qualname,
            texts.line(error.site) if error is not None and error.plain else "",
        )
    for (dotted, site), texts_of in observer.locals.items():
        found.locals[dotted, site] = next(iter(texts_of)) if len(texts_of) == 1 else "free"
    for name, state in m.modules.items():
        for variable, value in state.names.items():
            if value.source is not None and value.source.direct and not variable.startswith("__"):
                places = (n.site for n in value.source.walk() if n.site is not None)
                place_of = next((place for place in places if place.file == state.source.file), None)
                found.variables[f"{name}.{variable}"] = (
                    place_of or Site(state.source.file, 1, 1, 1),
                    shown_fully(value),
                )
    found.cut = frozenset(what for _, what, _ in survey.unfinished)
    found.passed, found.failed = frozenset(m.passed), dict(m.failed)
    found.unresolved = (
        *((site, what, why) for (site, what), why in observer.errors.items()),
        *survey.unfinished,
    )
    return found


def shown_fully(value: Value) -> str:
    """A value for people and for comparison across hosts."""
    from analyzer.python.values import Free, Unknown, plain

    if isinstance(value.data, Unknown):
        return f"unknown: {value.data.why}"
    if isinstance(value.data, Free):
        return "free"
    try:
        data = plain(value)
    except ValueError:
        return shown(value)
    return str(data).lower() if isinstance(data, bool) else str(data)


class _Texts:
    """Source lines by file, for the steps of an explanation."""

    def __init__(self, survey: Survey) -> None:
        self.walked = survey.walked
        self.sources = {source.file: source for source in survey.machine.index.sources.values()}
        self.gates_of = survey.observer.gates_of
        self.known: dict[int, tuple[Provenance, bool]] = {}
        """Whether a way back to a device answer passes no decision, by identity of a provenance."""

    def direct(self, source: Provenance) -> bool:
        """Whether a way back to a device answer passes no decision."""
        return settled(source, self.known, self._direct)

    def _direct(self, node: Provenance) -> bool:
        if node.kind is Origin.GATE:
            return False
        return node.kind is Origin.DOOR or any(self.known[id(parent)][1] for parent in node.parents)

    def raised_in(self, argument: Provenance) -> str | None:
        """The message with which the function that gives an argument raises."""
        written = argument.written
        walked = self.walked.get((written.source.name, written.qualname)) if written is not None else None
        return walked.raised.message if walked is not None and walked.raised is not None else None

    def line(self, site: Site) -> str:
        source = self.sources.get(site.file)
        lines = source.lines if source is not None else []
        return lines[site.line - 1].strip()[:160] if 0 < site.line <= len(lines) else ""


def _answer(decision: Decision, texts: _Texts, raised: dict[Site, str], explained: bool) -> Answer:
    outcomes = decision.outcomes
    if len(outcomes) == 1:
        outcome = next(iter(outcomes))
    elif decision.kind in ("filter", "match") and Truth.TRUE in outcomes:
        outcome = Truth.TRUE
    elif Truth.UNKNOWN in outcomes and Truth.FREE not in outcomes:
        outcome = Truth.UNKNOWN
    else:  # of what one call left undecided, a run on free arguments says that it may be either
        outcome = Truth.FREE
    message = None
    if decision.argument is not None:
        message = texts.raised_in(decision.argument)
    elif isinstance(decision.owner, (ast.If, ast.Assert)):
        first, last = decision.owner.lineno, decision.owner.end_lineno or decision.owner.lineno
        message = next(
            (
                text
                for site, text in raised.items()
                if site.file == decision.site.file and first <= site.line <= last
            ),
            None,
        )
    return Answer(
        outcome,
        any(map(texts.direct, decision.sources)),
        frozenset[Key]().union(*map(texts.gates_of, decision.sources)),
        because(decision.sources, texts.line) if explained else (),
        decision.why,
        Truth.FREE in outcomes <= {Truth.FREE, Truth.UNKNOWN},
        tuple(decision.parts.items()),
        message,
    )


def because(sources: list[Provenance], line: object) -> tuple[Step, ...]:
    """The places from a decision back to the doors, in order, each once."""
    steps: dict[tuple[str, int], Step] = {}
    seen: set[int] = set()  # what lies behind one lies behind others, too
    for source in sources:
        for node in source.walk(seen=seen):
            site = node.site
            if site is None or node.kind in (Origin.CHECK, Origin.GATE):
                continue
            where = (site.file, site.line)
            if where in steps:
                continue
            if len(steps) >= CHAIN:
                return tuple(steps.values())
            text = line(site) if callable(line) else ""
            if node.kind is Origin.DOOR:
                what = f"asks the device: {node.what}"
            elif node.kind is Origin.TOOLKIT:
                what = f"asks for the CUDA version: {node.what}"
            elif node.kind is Origin.ARGUMENT:
                what = f"given here: {text}"
            elif "imported from" in node.what:
                what = node.what
            else:
                what = text
            steps[where] = Step(site.file, site.line, what)
    return tuple(steps.values())


def _static(decision: Decision, survey: Survey) -> Static:
    m = survey.machine
    body: list[ast.stmt] = []
    function = m.defined.get(decision.module, {}).get(decision.scope)
    state = m.modules.get(decision.module)
    if function is not None:
        body = m.body(function)
    elif state is not None:
        body = state.source.parsed.module.body
    answers, truth = sides.answering(body) if function is not None else (False, False)
    argument = decision.argument
    code = scope = module = decorates = ""
    decorator = listed = False
    if argument is not None and argument.written is not None:
        written = argument.written
        node = written.node
        code = f"{node.arg}={ast.unparse(node.value)}" if isinstance(node, ast.keyword) else ast.unparse(node)
        scope, module = written.qualname, written.source.name
        listed = isinstance(node, ast.stmt)
        decorator = not written.in_function and not listed
        decorates = _decorated(node, written.source.parsed.module) if decorator else ""
    shape, reads = _shape(decision, body)
    return Static(
        decision.key,
        decision.site,
        decision.kind,
        decision.scope,
        decision.module,
        shape,
        argument.site if argument is not None else None,
        code,
        scope,
        module,
        decorator,
        decorates,
        reads,
        function.dotted if function is not None else "",
        answers,
        truth,
        listed,
        isinstance(decision.node, ast.BoolOp) and isinstance(decision.node.op, ast.And),
    )


def _decorated(node: ast.AST, module: ast.Module) -> str:
    """The function or class in whose decorators a node stands, by its name inside the module; or nothing."""
    waiting: list[tuple[str, ast.stmt]] = [("", statement) for statement in module.body]
    for outer, statement in waiting:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            waiting += [
                (outer, inner) for inner in ast.iter_child_nodes(statement) if isinstance(inner, ast.stmt)
            ]
            continue
        name = f"{outer}.{statement.name}" if outer else statement.name
        for decorator in statement.decorator_list:
            if any(inner is node for inner in ast.walk(decorator)):
                return name
        if isinstance(statement, ast.ClassDef):
            waiting += [(name, inner) for inner in statement.body]
    return ""


_SHAPES: dict[tuple[int, str], tuple[ast.AST, ast.AST, list[ast.stmt], Shape, frozenset[str]]] = {}
"""By identity of a decision's node, and by kind; kept for all hosts, which share the syntax trees."""


def _shape(decision: Decision, body: list[ast.stmt]) -> tuple[Shape, frozenset[str]]:
    """The shape of a decision, and what its condition reads: attributes and texts."""
    key = id(decision.node), decision.kind
    known = _SHAPES.get(key)
    if known is not None:
        node, owner, inside, shape, reads = known
        if node is decision.node and owner is decision.owner and inside is body:
            return shape, reads
    shape = sides.shape(decision.kind, decision.node, decision.owner, body)
    reads = frozenset(_read(decision.node))
    _SHAPES[key] = (decision.node, decision.owner, body, shape, reads)
    return shape, reads


def _read(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
