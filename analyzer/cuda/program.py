"""The files of one or more translation units, linked: which definitions a name can mean at a place."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from analyzer.cuda import declarations
from analyzer.cuda.activity import FileActivity, Unit
from analyzer.cuda.functions import Definition, FileFunctions, Invocation, Kind, execution_space, outline
from analyzer.cuda.source import ActiveText, Lines, Macro, Source, read
from analyzer.cuda.uses import Locals, Use, declared
from analyzer.cuda.uses import uses as _uses

Path = tuple[str, ...]
_EXPANSIONS = 4
"""How many macros deep a definition is looked for inside macro invocations."""


@dataclass(frozen=True)
class ReadFile:
    """One file as one compiler pass sees it."""

    path: str
    text: ActiveText
    facts: FileFunctions


class Reader:
    """Reads files once, and once for each distinct set of inactive lines."""

    def __init__(self, load: Callable[[str], bytes]) -> None:
        self._load = load
        self._sources: dict[str, Source] = {}
        self._files: dict[tuple[str, tuple[Lines, ...]], ReadFile] = {}

    def source(self, path: str) -> Source:
        """The file's text without its comments."""
        if path not in self._sources:
            self._sources[path] = read(self._load(path))
        return self._sources[path]

    def file(self, path: str, inactive: Sequence[Lines] = ()) -> ReadFile:
        """The file when these runs of lines are compiled out."""
        key = path, tuple(inactive)
        if key not in self._files:
            text = self.source(path).active(inactive)
            self._files[key] = ReadFile(path, text, outline(text))
        return self._files[key]


@dataclass(frozen=True, eq=False)
class Symbol:
    """A definition in its file; compared by identity. ``code`` is the text that its offsets mean."""

    file: str
    definition: Definition
    kind: Kind
    code: str
    text: str
    drops: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The unqualified name."""
        return self.definition.name

    @property
    def scope(self) -> Path:
        """Namespaces and classes around it."""
        return self.definition.scope

    @property
    def is_function(self) -> bool:
        """Whether it is a function of any kind."""
        return self.definition.is_function

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The names that it mentions; of a class, those outside its members' own definitions."""
        own = self.definition
        spans = own.pieces or ((own.start if own.is_function else own.body[0], own.end),)
        found = [use for start, end in spans for use in _uses(self.code, start, end)]
        limit = own.parameters if own.is_function else own.body[0] if own.kind == "class" else own.end
        return tuple(
            use
            for use in found
            if use.name not in self.drops
            and not (use.name == own.name and use.at < limit and not use.called)
            and not (own.is_function and use.name == own.name and use.at < limit)
        )

    @cached_property
    def header_uses(self) -> tuple[Use, ...]:
        """Of a class: the names in its header (its bases and their template arguments)."""
        start, end = self.definition.pieces[0]
        return tuple(use for use in self.uses if start <= use.at < end)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Its template parameters."""
        return declarations.template_parameters(self.definition.template)

    @cached_property
    def locals(self) -> Locals:
        """What it declares itself."""
        own = self.definition
        if not own.is_function:
            return Locals(frozenset(), frozenset(), frozenset(), False)
        constructor = ":" in self.code[own.parameters : own.body[0]].replace("::", "")
        return declared(self.text, own.parameters, own.end, constructor)


Places = dict[Path, list[Symbol]]
"""The definitions of one name, by scope."""


class Program:
    """The definitions of some files, found by name and place."""

    def __init__(self, files: Iterable[ReadFile]) -> None:
        self.files: tuple[ReadFile, ...] = tuple({(f.path, f.text.inactive): f for f in files}.values())
        self._files = {file.path: file for file in reversed(self.files)}
        self.macros: dict[str, list[tuple[str, Macro]]] = {}
        for file in self.files:
            for macro in file.facts.macros:
                self.macros.setdefault(macro.name, []).append((file.path, macro))
        self.by_name: dict[str, list[Symbol]] = {}
        self.members: dict[Path, dict[str, list[Symbol]]] = defaultdict(lambda: defaultdict(list))
        self.classes: dict[Path, list[Symbol]] = {}
        self._places: dict[str, Places] = {}
        self._class_paths: dict[str, list[Path]] = defaultdict(list)
        self._using: dict[Path, list[Path]] = defaultdict(list)
        self._aliases: dict[str, list[Path]] = defaultdict(list)
        for file in self.files:
            self._add_file(file)
        for path in self.classes:
            self._class_paths[path[-1]].append(path)
        for name, symbols in self.by_name.items():
            places = self._places[name] = {}
            for symbol in symbols:
                places.setdefault(symbol.scope, []).append(symbol)
                if symbol.scope in self.classes:
                    self.members[symbol.scope][name].append(symbol)
        self._bases: dict[Path, tuple[Path, ...]] = {}
        self._families: dict[Path, tuple[Path, ...]] = {}
        self._named: dict[tuple[str, Path, Path, bool], tuple[Symbol, ...]] = {}

    def file(self, path: str) -> ReadFile | None:
        """The file of that path; None if no unit reads it."""
        return self._files.get(path)

    def _add_file(self, file: ReadFile) -> None:
        for definition in file.facts.definitions:
            self._add(self.symbol(file, definition))
        for path, macro in ((file.path, m) for m in file.facts.macros):
            self.by_name.setdefault(macro.name, []).append(_macro_symbol(path, macro))
        for using in file.facts.usings:
            if using.name is None:
                self._using[using.scope].append(using.target)
            else:
                self._aliases[using.name].append(using.target)
        for invocation in file.facts.invocations:
            self._expand(file.path, invocation, invocation.scope, _EXPANSIONS)

    def _add(self, symbol: Symbol) -> None:
        self.by_name.setdefault(symbol.name, []).append(symbol)
        if symbol.kind == "class":
            self.classes.setdefault(symbol.definition.path, []).append(symbol)

    def symbol(self, file: ReadFile, definition: Definition) -> Symbol:
        """A file's definition, its execution space read through the macros that may spell it."""
        return Symbol(
            file.path, definition, execution_kind(definition, self.macros), file.text.code, file.text.text
        )

    def _expand(self, path: str, invocation: Invocation, scope: Path, depth: int) -> None:
        """Add what a macro invocation at declaration level defines."""
        for _, macro in self.macros.get(invocation.name, ()):
            if macro.parameters is None or depth == 0:
                continue
            text = read(substitute(macro, invocation.arguments).encode("latin-1")).active()
            facts = outline(text)
            for inner in facts.definitions:
                placed = replace(
                    inner,
                    scope=scope + inner.scope,
                    header_line=invocation.line,
                    line=invocation.line,
                    end_line=invocation.line,
                )
                self._add(Symbol(path, placed, execution_kind(placed, self.macros), text.code, text.text))
            for nested in facts.invocations:
                self._expand(path, replace(nested, line=invocation.line), scope + nested.scope, depth - 1)

    def bases(self, path: Path) -> tuple[Path, ...]:
        """The classes that a class names in its header (bases, their template arguments)."""
        if path not in self._bases:
            self._bases[path] = ()
            found = [
                target.definition.path
                for symbol in self.classes.get(path, ())
                for use in symbol.header_uses
                for target in self.named(use, symbol)
                if target.kind == "class" and target.definition.path != path
            ]
            self._bases[path] = tuple(dict.fromkeys(found))
        return self._bases[path]

    def family(self, path: Path) -> tuple[Path, ...]:
        """A class and all its bases, each once."""
        if path not in self._families:
            done: dict[Path, None] = {}
            todo = deque([path])
            while todo:
                here = todo.popleft()
                if here not in done:
                    done[here] = None
                    todo.extend(self.bases(here))
            self._families[path] = tuple(done)
        return self._families[path]

    def named(self, use: Use, at: Symbol) -> tuple[Symbol, ...]:
        """The definitions that a plain or qualified name can mean at a place (never members of objects)."""
        if use.name not in self.by_name:
            return ()
        inside = at.definition.path if at.kind == "class" else at.scope
        key = use.name, use.qualifiers, inside, at.kind == "class"
        if key not in self._named:
            self._named[key] = tuple(self._find(*key))
        return self._named[key]

    def _find(self, name: str, qualifiers: Path, inside: Path, in_header: bool) -> list[Symbol]:
        places = self._places[name]
        if qualifiers:
            return self._qualified(qualifiers, places, inside)
        macros = [symbol for symbol in places.get((), ()) if symbol.kind == "macro"]
        return macros or self._visible(places, inside, in_header) or self._associated(name, places)

    def _visible(self, places: Places, inside: Path, in_header: bool) -> list[Symbol]:
        """By ordinary lookup: the innermost class that has it, else all enclosing and used namespaces."""
        found: dict[Symbol, None] = {}
        for length in range(len(inside), -1, -1):
            prefix = inside[:length]
            if prefix in self.classes:
                family = self.family(prefix) if not in_header else (prefix,)
                mine = [symbol for path in family for symbol in places.get(path, ())]
                if mine:
                    return mine
                continue
            for opened in (prefix, *self._opened(prefix)):
                found.update(dict.fromkeys(places.get(opened, ())))
        return list(found)

    def _opened(self, prefix: Path) -> list[Path]:
        """The namespaces that using directives open in this scope."""
        targets = self._using.get(prefix, ())
        return [prefix[:length] + target for target in targets for length in range(len(prefix) + 1)]

    def _associated(self, name: str, places: Places) -> list[Symbol]:
        """By a using declaration, else by the arguments' namespaces, which are not followed: all of them."""
        targets = self._aliases.get(name, ())
        return [
            symbol
            for scope, symbols in places.items()
            if (any(_ends((*scope, name), t) for t in targets) if targets else scope not in self.classes)
            for symbol in symbols
        ]

    def _qualified(self, qualifiers: Path, places: Places, inside: Path) -> list[Symbol]:
        """By the qualifiers seen from here, else by any scope that ends in them, else through an alias."""
        around = [inside[:length] for length in range(len(inside), -1, -1)]
        exact = [scope + qualifiers for prefix in around for scope in (prefix, *self._opened(prefix))]
        found = [symbol for scope in dict.fromkeys(exact) for symbol in places.get(scope, ())]
        if found:
            return found
        aliased = [target + qualifiers[1:] for target in self._aliases.get(qualifiers[0], ())]
        for wanted in (qualifiers, *aliased):
            found = [s for scope, symbols in places.items() if _ends(scope, wanted) for s in symbols]
            if found:
                return found
        classes = [path for path in self._class_paths.get(qualifiers[-1], ()) if _ends(path, qualifiers)]
        return [s for path in classes for base in self.family(path) for s in places.get(base, ())]

    def data_members(self, path: Path) -> frozenset[str]:
        """The names in a class outside its members' own definitions: its data members among them."""
        return frozenset(use.name for symbol in self.classes.get(path, ()) for use in symbol.uses)


def inactive(activity: FileActivity, bit: int) -> tuple[Lines, ...]:
    """The lines of a file that one configuration (a mask of one bit) certainly does not compile."""
    found: list[Lines] = []
    for run in activity.runs:
        if not (run.active | run.unknown) & bit:
            if found and found[-1][1] + 1 == run.line:
                found[-1] = found[-1][0], run.end_line
            else:
                found.append((run.line, run.end_line))
    return tuple(found)


def link(units: Iterable[Unit], bit: int, reader: Reader) -> Program:
    """The units of one build, linked as one configuration (a mask of one bit) compiles them.

    A line that is not known to be compiled or not counts as compiled.
    """
    files = (activity for unit in units for activity in unit.files.values())
    return Program(reader.file(activity.path, inactive(activity, bit)) for activity in files)


def execution_kind(definition: Definition, macros: Mapping[str, Sequence[tuple[str, Macro]]]) -> Kind:
    """A definition's kind, its execution space read through the macros that may spell it."""
    if not definition.is_function:
        return definition.kind
    found: set[str] = set(definition.leading)
    todo = list(definition.leading)
    while todo:
        for _, macro in macros.get(todo.pop(), ()):
            if "{" in macro.body or ";" in macro.body:
                continue
            new = {match[0] for match in declarations.TOKEN.finditer(macro.body)} - found
            found |= new
            todo += new
    return execution_space(sorted(found))


def substitute(macro: Macro, arguments: Sequence[str]) -> str:
    """A macro's replacement with its arguments put in; ``##`` joins, ``#`` quotes ([cpp.concat])."""
    parameters = [p for p in macro.parameters or () if p != "..."]
    values = dict(zip(parameters, arguments, strict=False))
    values["__VA_ARGS__"] = ", ".join(arguments[len(parameters) :])
    pieces = []
    for match in declarations.TOKEN.finditer(macro.body.replace("##", "\0").replace("\\\n", " ")):
        pieces.append(values.get(match[0], match[0]))
    return " ".join(pieces).replace(" \0 ", "").replace("\0", "")


def _macro_symbol(path: str, macro: Macro) -> Symbol:
    size = len(macro.body)
    definition = Definition(
        macro.name, "macro", (), macro.line, macro.line, macro.end_line, 0, size, (0, size)
    )
    drops = frozenset(p.removesuffix("...") or "__VA_ARGS__" for p in macro.parameters or ())
    code = read(macro.body.replace("\\\n", " \n").encode("latin-1")).code
    return Symbol(path, definition, "macro", code, macro.body, drops | {macro.name})


def _ends(scope: Path, qualifiers: Path) -> bool:
    return len(qualifiers) <= len(scope) and scope[-len(qualifiers) :] == qualifiers
