"""The files of one or more translation units, linked: which definitions a name can mean at a place."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TypeVar

from analyzer.cuda import declarations
from analyzer.cuda.activity import Unit
from analyzer.cuda.functions import Definition, FileFunctions, Invocation, Kind, execution_space, outline
from analyzer.cuda.source import ActiveText, Lines, Macro, Source, read
from analyzer.cuda.uses import Locals, Use, declared
from analyzer.cuda.uses import uses as _uses

Path = tuple[str, ...]
Symbols = dict[tuple[Kind, Definition | Macro], list["Symbol"]]
_EXPANSIONS = 4
"""How many macros deep a definition is looked for inside macro invocations."""


@dataclass(frozen=True)
class ReadFile:
    """One file as one compiler pass sees it."""

    path: str
    text: ActiveText
    facts: FileFunctions
    symbols: Symbols = field(default_factory=dict, repr=False, compare=False)
    """The symbols of the file that any of its passes made; passes that agree on one share it."""

    @cached_property
    def table(self) -> Table:
        """What the file defines, by name."""
        return Table(self)


class Reader:
    """Reads files once, and once for each distinct set of inactive lines."""

    def __init__(self, load: Callable[[str], bytes]) -> None:
        self._load = load
        self._sources: dict[str, Source] = {}
        self._files: dict[tuple[str, tuple[Lines, ...]], ReadFile] = {}
        self._symbols: dict[str, Symbols] = defaultdict(dict)

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
            self._files[key] = ReadFile(path, text, outline(text), self._symbols[path])
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
        found = [use for start, end in _spans(own) for use in _uses(self.code, start, end)]
        limit = own.parameters if own.is_function else own.body[0] if own.kind == "class" else own.end
        return tuple(
            use
            for use in found
            if use.name not in self.drops
            and not (use.name == own.name and use.at < limit and not use.called)
            and not (own.is_function and use.name == own.name and use.at < limit)
        )

    @cached_property
    def distinct_uses(self) -> tuple[Use, ...]:
        """Its uses without those that say the same as an earlier one; plain calls all stay.

        Whether a plain call means a local object depends on where it stands.
        """
        found: dict[tuple[object, ...], Use] = {}
        for use in self.uses:
            plain = use.at if use.called and not use.qualifiers else -1
            found.setdefault((use.name, use.role, use.qualifiers, use.called, use.launched, plain), use)
        return tuple(found.values())

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


class Table:
    """The definitions and macros of one file by name; its symbols, shared by all programs with the file."""

    def __init__(self, file: ReadFile) -> None:
        self._file = file
        self.definitions: dict[str, list[Definition]] = {}
        self.macros: dict[str, list[Macro]] = {}
        self.scopes: dict[Path, dict[str, None]] = {}
        self.classes: dict[Path, None] = {}
        for definition in file.facts.definitions:
            self.definitions.setdefault(definition.name, []).append(definition)
            self.scopes.setdefault(definition.scope, {})[definition.name] = None
            if definition.kind == "class":
                self.classes[definition.path] = None
        for macro in file.facts.macros:
            self.macros.setdefault(macro.name, []).append(macro)
        self.names = (*self.definitions, *(name for name in self.macros if name not in self.definitions))
        self._symbols: dict[tuple[int, Kind], Symbol] = {}

    @cached_property
    def blocks(self) -> Mapping[str, Sequence[Definition]]:
        """Host functions by name, as which macros with a body after them appear, too."""
        hosts = ((n, [d for d in ds if d.kind == "host"]) for n, ds in self.definitions.items())
        return {name: definitions for name, definitions in hosts if definitions}

    def symbol(self, definition: Definition, kind: Kind) -> Symbol:
        """The symbol of one of the file's definitions."""
        key = id(definition), kind  # the file keeps its definitions, so that none takes another's place
        if key not in self._symbols:
            self._symbols[key] = self._shared(definition, kind)
        return self._symbols[key]

    def _shared(self, definition: Definition, kind: Kind) -> Symbol:
        """The symbol that another pass made of the same definition with the same text, else a new one."""
        text = self._file.text
        alike = self._file.symbols.setdefault((kind, definition), [])
        for known in alike:
            if all(known.text[start:end] == text.text[start:end] for start, end in _spans(definition)):
                return known
        alike.append(Symbol(self._file.path, definition, kind, text.code, text.text))
        return alike[-1]

    def macro(self, macro: Macro) -> Symbol:
        """The symbol of one of the file's macros."""
        found = self._file.symbols.setdefault(("macro", macro), [])
        if not found:
            found.append(_macro_symbol(self._file.path, macro))
        return found[0]


Key = TypeVar("Key")
Value = TypeVar("Value")


class Lazy(Mapping[Key, Value]):
    """A mapping whose keys are known and whose values are worked out when they are asked for."""

    def __init__(self, keys: Collection[Key], make: Callable[[Key], Value]) -> None:
        self._keys, self._make = keys, make
        self._made: dict[Key, Value] = {}

    def __getitem__(self, key: Key) -> Value:
        if key not in self._made:
            if key not in self._keys:
                raise KeyError(key)
            self._made[key] = self._make(key)
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


Places = dict[Path, list[Symbol]]
"""The definitions of one name, by scope."""


class Program:
    """The definitions of some files, found by name and place.

    A program may have a hundred thousand names, of which few are ever asked for: only tables of which file
    has which name are made beforehand.
    """

    def __init__(self, files: Iterable[ReadFile]) -> None:
        self.files: tuple[ReadFile, ...] = tuple({(f.path, f.text.inactive): f for f in files}.values())
        self._files = {file.path: file for file in reversed(self.files)}
        self._holders: dict[str, list[ReadFile]] = {}
        self._macro_holders: dict[str, list[ReadFile]] = {}
        self._scopes: dict[Path, list[ReadFile]] = {}
        self._class_holders: dict[Path, None] = {}
        self._using: dict[Path, list[Path]] = defaultdict(list)
        self._aliases: dict[str, list[Path]] = defaultdict(list)
        self._expanded: dict[tuple[int, str], list[Symbol]] = {}
        self._expanded_scopes: dict[Path, dict[str, None]] = {}
        self._kinds: dict[tuple[str, ...], Kind] = {}
        for file in self.files:
            self._add_file(file)
        self.macros: Mapping[str, Sequence[tuple[str, Macro]]] = Lazy(self._macro_holders, self._macros)
        expanded: set[tuple[str, Invocation]] = set()
        for file in self.files:
            for invocation in file.facts.invocations:
                if invocation.name in self.macros and (file.path, invocation) not in expanded:
                    expanded.add((file.path, invocation))
                    self._expand(file, invocation, invocation.scope, _EXPANSIONS)
        self.by_name: Mapping[str, list[Symbol]] = Lazy(self._holders, self._symbols)
        self.classes: Mapping[Path, list[Symbol]] = Lazy(self._class_holders, self._classes)
        self.members: Mapping[Path, dict[str, list[Symbol]]] = Lazy(self._class_holders, self._members)
        self._places: Mapping[str, Places] = Lazy(self._holders, self._by_scope)
        self._bases: dict[Path, tuple[Path, ...]] = {}
        self._families: dict[Path, tuple[Path, ...]] = {}
        self._named: dict[tuple[str, Path, Path, bool], tuple[Symbol, ...]] = {}

    @property
    def names(self) -> Collection[str]:
        """The names that some file defines."""
        return self._holders

    def file(self, path: str) -> ReadFile | None:
        """The file of that path; None if no unit reads it."""
        return self._files.get(path)

    def _add_file(self, file: ReadFile) -> None:
        table = file.table
        for name in table.names:
            self._holders.setdefault(name, []).append(file)
        for name in table.macros:
            self._macro_holders.setdefault(name, []).append(file)
        for scope in table.scopes:
            self._scopes.setdefault(scope, []).append(file)
        self._class_holders.update(table.classes)
        for using in file.facts.usings:
            if using.name is None:
                self._using[using.scope].append(using.target)
            else:
                self._aliases[using.name].append(using.target)

    def _macros(self, name: str) -> list[tuple[str, Macro]]:
        rows = ((file.path, macro) for file in self._macro_holders[name] for macro in file.table.macros[name])
        return list(dict.fromkeys(rows))

    def _symbols(self, name: str) -> list[Symbol]:
        """The definitions, macros and expanded definitions of a name, file by file."""
        found: list[Symbol] = []
        for file in self._holders[name]:
            table = file.table
            found += [table.symbol(d, self._kind(d)) for d in table.definitions.get(name, ())]
            found += [table.macro(macro) for macro in table.macros.get(name, ())]
            found += self._expanded.get((id(file), name), ())
        return list(dict.fromkeys(found))

    def _kind(self, definition: Definition) -> Kind:
        if not definition.is_function:
            return definition.kind
        leading = definition.leading
        if leading not in self._kinds:
            self._kinds[leading] = execution_kind(definition, self.macros)
        return self._kinds[leading]

    def _classes(self, path: Path) -> list[Symbol]:
        return [s for s in self.by_name[path[-1]] if s.kind == "class" and s.definition.path == path]

    def _members(self, path: Path) -> dict[str, list[Symbol]]:
        names = {name: None for file in self._scopes.get(path, ()) for name in file.table.scopes[path]}
        names.update(self._expanded_scopes.get(path, {}))
        return {name: self._places[name][path] for name in names}

    def _by_scope(self, name: str) -> Places:
        places: Places = {}
        for symbol in self.by_name[name]:
            places.setdefault(symbol.scope, []).append(symbol)
        return places

    def _expand(self, file: ReadFile, invocation: Invocation, scope: Path, depth: int) -> None:
        """Add what a macro invocation at declaration level defines."""
        for _, macro in self.macros.get(invocation.name, ()):
            if macro.parameters is None or depth == 0:
                continue
            text, facts = outlined(substitute(macro, invocation.arguments))
            for inner in facts.definitions:
                placed = inner._replace(
                    scope=scope + inner.scope,
                    header_line=invocation.line,
                    line=invocation.line,
                    end_line=invocation.line,
                )
                kind = execution_kind(placed, self.macros)
                self._add(file, Symbol(file.path, placed, kind, text.code, text.text))
            for nested in facts.invocations:
                self._expand(file, replace(nested, line=invocation.line), scope + nested.scope, depth - 1)

    def _add(self, file: ReadFile, symbol: Symbol) -> None:
        """Add an expanded definition, which belongs to the file of its invocation."""
        holders = self._holders.setdefault(symbol.name, [])
        if file not in holders:
            holders.append(file)
        self._expanded.setdefault((id(file), symbol.name), []).append(symbol)
        self._expanded_scopes.setdefault(symbol.scope, {})[symbol.name] = None
        if symbol.kind == "class":
            self._class_holders[symbol.definition.path] = None

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
        if use.name not in self._holders:
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
        named = self.by_name.get(qualifiers[-1], ())
        paths = dict.fromkeys(symbol.definition.path for symbol in named if symbol.kind == "class")
        classes = [path for path in paths if _ends(path, qualifiers)]
        return [s for path in classes for base in self.family(path) for s in places.get(base, ())]

    def data_members(self, path: Path) -> frozenset[str]:
        """The names in a class outside its members' own definitions: its data members among them."""
        return frozenset(use.name for symbol in self.classes.get(path, ()) for use in symbol.uses)


def link(units: Iterable[Unit], bit: int, reader: Reader) -> Program:
    """The units of one build, linked as one configuration (a mask of one bit) compiles them.

    A line that is not known to be compiled or not counts as compiled.
    """
    files = (activity for unit in units for activity in unit.files.values())
    return Program(reader.file(activity.path, activity.inactive(bit)) for activity in files)


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


@lru_cache(maxsize=4096)
def outlined(text: str) -> tuple[ActiveText, FileFunctions]:
    """An expanded macro's text and what it defines; many builds expand the same."""
    active = read(text.encode("latin-1")).active()
    return active, outline(active)


def _macro_symbol(path: str, macro: Macro) -> Symbol:
    size = len(macro.body)
    definition = Definition(
        macro.name, "macro", (), macro.line, macro.line, macro.end_line, 0, size, (0, size)
    )
    drops = frozenset(p.removesuffix("...") or "__VA_ARGS__" for p in macro.parameters or ())
    code = read(macro.body.replace("\\\n", " \n").encode("latin-1")).code
    return Symbol(path, definition, "macro", code, macro.body, drops | {macro.name})


def _spans(definition: Definition) -> tuple[tuple[int, int], ...]:
    """The offsets of what a definition itself says: of a class, what is outside its members' definitions."""
    start = definition.start if definition.is_function else definition.body[0]
    return definition.pieces or ((start, definition.end),)


def _ends(scope: Path, qualifiers: Path) -> bool:
    return len(qualifiers) <= len(scope) and scope[-len(qualifiers) :] == qualifiers
