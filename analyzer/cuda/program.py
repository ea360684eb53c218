"""The files of one or more translation units, linked: which definitions a name can mean at a place."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from analyzer.cuda import declarations
from analyzer.cuda.activity import Unit
from analyzer.cuda.functions import Definition, FileFunctions, Invocation, Kind, execution_space, outline
from analyzer.cuda.source import ActiveText, Lines, Macro, Source, read
from analyzer.cuda.uses import Locals, Mention, Role, Use, declared, mentions

#: What a macro stands for that spells a namespace.
_PATH = re.compile(r"(?:::)?\s*[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")

Path = tuple[str, ...]
Asked = tuple[str, Path]
"""A name and its qualifiers."""
Place = tuple[Path, bool]
"""A scope, and whether something is asked from the header of the class that it is."""
NOTHING = Locals(frozenset(), frozenset(), frozenset(), False)
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


class Request(NamedTuple):
    """What a definition asks of a program: a name (``asked``, with its qualifiers), first meant at ``at``.

    ``role`` and ``called`` are as in ``Use``. ``opens``: the qualifier is known only when the template is
    used.
    """

    asked: Asked
    role: Role
    called: bool
    at: int
    opens: bool


class Symbol:
    """A definition in its file; compared by identity. ``active`` is the text that its offsets mean.

    ``place`` is from where its names are looked up: inside these scopes, and whether from a class's header.
    """

    def __init__(
        self,
        file: str,
        definition: Definition,
        kind: Kind,
        active: ActiveText,
        drops: frozenset[str] = frozenset(),
    ) -> None:
        self.file, self.definition, self.kind = file, definition, kind
        self.active, self.drops = active, drops
        self.code, self.text = active.code, active.text
        self.name, self.scope = definition.name, definition.scope
        self.is_function = definition.is_function
        header = kind == "class"
        self.place: Place = (definition.path, True) if header else (definition.scope, False)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.definition.qualified} {self.file}:{self.definition.line}>"

    @property
    def uses(self) -> tuple[Use, ...]:
        """The names that it mentions; of a class, those outside its members' own definitions."""
        return tuple(map(Use._make, self._mentions(_spans(self.definition))))

    def _mentions(self, spans: Iterable[tuple[int, int]]) -> Iterator[Mention]:
        own, name, drops, code = self.definition, self.name, self.drops, self.code
        limit = own.parameters if own.is_function else own.body[0] if own.kind == "class" else own.end
        for start, end in spans:
            for mention in mentions(code, start, end):
                used = mention[0]
                if used in drops or (
                    used == name and mention[5] < limit and (own.is_function or not mention[3])
                ):
                    continue
                yield mention

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """What it asks of any program that it is part of: its distinct uses, those of its locals left out.

        A call of a local object is a call of its ``operator()``.
        """
        found: dict[tuple[str, Path, Role, bool], Request] = {}
        parameters, own, head = self.parameters, self.locals, self.definition.parameters
        for name, role, qualifiers, called, _, at in self._mentions(_spans(self.definition)):
            if role != "name":
                called = False
            elif not qualifiers and (name in parameters or name in own.names):
                if not called or at - head in own.places or name in own.lambdas:
                    continue
                name, role, called = "operator()", "member", False
            key = name, qualifiers, role, called
            if key not in found:
                last = qualifiers[-1] if qualifiers else ""
                opens = last == "?" or last in parameters or last in own.names
                found[key] = Request((name, qualifiers), role, called, at, opens)
        return tuple(found.values())

    @cached_property
    def words(self) -> frozenset[str]:
        """All names that it mentions."""
        return frozenset(mention[0] for mention in self._mentions(_spans(self.definition)))

    @cached_property
    def in_header(self) -> tuple[Asked, ...]:
        """Of a class: what its header names (its bases and their template arguments)."""
        header = self._mentions(self.definition.pieces[:1])
        return tuple(dict.fromkeys((mention[0], mention[2]) for mention in header))

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Its template parameters."""
        return declarations.template_parameters(self.definition.template)

    @cached_property
    def locals(self) -> Locals:
        """What it declares itself."""
        own = self.definition
        if not own.is_function:
            return NOTHING
        constructor = ":" in self.code[own.parameters : own.body[0]].replace("::", "")
        return declared(self.text[own.parameters : own.end], constructor)

    def line(self, at: int) -> int:
        """The line of an offset in its text; of a macro's, the line of its definition."""
        own = self.definition
        if self.kind == "macro" or own.line == own.end_line:
            return own.line
        line = self.active.source.line
        return own.line + line(at) - line(max(own.start, own.parameters))


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
        alike.append(Symbol(self._file.path, definition, kind, text))
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


Places = Mapping[Path, list["Symbol"]]
"""The definitions of one name, by scope."""


class Named(NamedTuple):
    """The definitions of one name in some files, also by scope; ``kinds`` is what their leading words say."""

    symbols: list[Symbol]
    macros: tuple[Symbol, ...]
    places: dict[Path, list[Symbol]]
    kinds: dict[tuple[str, ...], Kind]


Shelf = dict[tuple[str, tuple[int, ...]], Named]
"""Definitions by name and the ids of the files that hold it; programs with the same files share them."""


class Program:
    """The definitions of some files, found by name and place.

    A program may have a hundred thousand names, of which few are ever asked for: only tables of which file
    has which name are made beforehand.
    """

    def __init__(self, files: Iterable[ReadFile], shelf: Shelf | None = None) -> None:
        self._shelf: Shelf = {} if shelf is None else shelf
        self.files: tuple[ReadFile, ...] = tuple({(f.path, f.text.inactive): f for f in files}.values())
        self._by_path: dict[str, list[ReadFile]] = defaultdict(list)
        for file in self.files:
            self._by_path[file.path].append(file)
        self._holders: dict[str, list[ReadFile]] = {}
        self._macro_holders: dict[str, list[ReadFile]] = {}
        self._scopes: dict[Path, list[ReadFile]] = {}
        self._class_holders: dict[Path, None] = {}
        self._using: dict[Path, list[Path]] = defaultdict(list)
        self._aliases: dict[str, list[Path]] = defaultdict(list)
        self._expanded: dict[tuple[int, str], list[Symbol]] = {}
        self._expanded_names: set[str] = set()
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
        self._by_name: Mapping[str, Named] = Lazy(self._holders, self._find_named)
        self.by_name: Mapping[str, list[Symbol]] = Lazy(
            self._holders, lambda name: self._by_name[name].symbols
        )
        self.classes: Mapping[Path, list[Symbol]] = Lazy(self._class_holders, self._classes)
        self.members: Mapping[Path, dict[str, list[Symbol]]] = Lazy(self._class_holders, self._members)
        self._openings: dict[Path, tuple[Path, ...]] = {}
        self._bases: dict[Path, tuple[Path, ...]] = {}
        self._families: dict[Path, tuple[Path, ...]] = {}
        self._answers: dict[Place, dict[Asked, tuple[Symbol, ...]]] = {}
        self._anywhere: dict[str, tuple[Symbol, ...]] = {}
        self._suffixed: dict[Asked, tuple[Symbol, ...]] = {}

    @property
    def names(self) -> Collection[str]:
        """The names that some file defines."""
        return self._holders

    def seen(self, path: str) -> Sequence[ReadFile]:
        """The file of that path in each way in which a unit or pass reads it, in the order of the files."""
        return self._by_path.get(path, ())

    def file(self, path: str) -> ReadFile | None:
        """The file of that path; None if no unit reads it."""
        return next(iter(self.seen(path)), None)

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

    def _find_named(self, name: str) -> Named:
        """The definitions, macros and expanded definitions of a name, file by file."""
        holders = self._holders[name]
        if name in self._expanded_names:
            return self._make_named(name, holders)
        key = name, tuple([id(file) for file in holders])  # the shelf's owner keeps the files
        found = self._shelf.get(key)
        if found is None or any(self._leading_kind(words) != kind for words, kind in found.kinds.items()):
            found = self._shelf[key] = self._make_named(name, holders)
        return found

    def _make_named(self, name: str, holders: Sequence[ReadFile]) -> Named:
        symbols: dict[Symbol, None] = {}
        kinds: dict[tuple[str, ...], Kind] = {}
        for file in holders:
            table = file.table
            for definition in table.definitions.get(name, ()):
                kind = definition.kind
                if definition.is_function:
                    kind = kinds[definition.leading] = self._leading_kind(definition.leading)
                symbols[table.symbol(definition, kind)] = None
            for macro in table.macros.get(name, ()):
                symbols[table.macro(macro)] = None
            symbols.update(dict.fromkeys(self._expanded.get((id(file), name), ())))
        places: dict[Path, list[Symbol]] = {}
        for symbol in symbols:
            places.setdefault(symbol.scope, []).append(symbol)
        macros = tuple(symbol for symbol in places.get((), ()) if symbol.kind == "macro")
        return Named(list(symbols), macros, places, kinds)

    def _leading_kind(self, leading: tuple[str, ...]) -> Kind:
        found = self._kinds.get(leading)
        if found is None:
            found = self._kinds[leading] = spelled_kind(leading, self.macros)
        return found

    def _classes(self, path: Path) -> list[Symbol]:
        return [s for s in self.by_name[path[-1]] if s.kind == "class" and s.definition.path == path]

    def _members(self, path: Path) -> dict[str, list[Symbol]]:
        names = {name: None for file in self._scopes.get(path, ()) for name in file.table.scopes[path]}
        names.update(self._expanded_scopes.get(path, {}))
        return {name: self._by_name[name].places[path] for name in names}

    def _expand(self, file: ReadFile, invocation: Invocation, scope: Path, depth: int) -> None:
        """Add what a macro invocation at declaration level defines."""
        for _, macro in self.macros.get(invocation.name, ()):
            if macro.parameters is None or depth == 0:
                continue
            text, facts = expanded(macro, invocation.arguments)
            for inner in facts.definitions:
                placed = inner._replace(
                    scope=scope + inner.scope,
                    header_line=invocation.line,
                    line=invocation.line,
                    end_line=invocation.line,
                )
                kind = execution_kind(placed, self.macros)
                self._add(file, Symbol(file.path, placed, kind, text))
            for nested in facts.invocations:
                self._expand(file, replace(nested, line=invocation.line), scope + nested.scope, depth - 1)

    def _add(self, file: ReadFile, symbol: Symbol) -> None:
        """Add an expanded definition, which belongs to the file of its invocation."""
        holders = self._holders.setdefault(symbol.name, [])
        if file not in holders:
            holders.append(file)
        self._expanded.setdefault((id(file), symbol.name), []).append(symbol)
        self._expanded_names.add(symbol.name)
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
                for asked in symbol.in_header
                for target in self.named(asked, symbol.place)
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

    def named(self, asked: Asked, place: Place) -> tuple[Symbol, ...]:
        """The definitions that a plain or qualified name can mean at a place (never members of objects)."""
        answers = self.answers(place)
        found = answers.get(asked)
        if found is None:
            found = answers[asked] = self._find(asked, place) if asked[0] in self._holders else ()
        return found

    def answers(self, place: Place) -> dict[Asked, tuple[Symbol, ...]]:
        """What was found so far from a place."""
        found = self._answers.get(place)
        if found is None:
            found = self._answers[place] = {}
        return found

    def _find(self, asked: Asked, place: Place) -> tuple[Symbol, ...]:
        name, qualifiers = asked
        inside, in_header = place
        named = self._by_name[name]
        if qualifiers:
            return self._qualified(asked, named.places, inside)
        if named.macros:
            return named.macros
        if inside in self._class_holders:
            family = self.family(inside) if not in_header else (inside,)
            mine = tuple([symbol for path in family for symbol in named.places.get(path, ())])
            return mine or self.named(asked, (inside[:-1], in_header))
        return tuple(self._visible(named.places, inside, in_header)) or self._associated(name, named.places)

    def _visible(self, places: Places, inside: Path, in_header: bool) -> list[Symbol]:
        """By ordinary lookup: the innermost class that has it, else all enclosing and used namespaces."""
        found: dict[Symbol, None] = {}
        for length in range(len(inside), -1, -1):
            prefix = inside[:length]
            if prefix in self._class_holders:
                family = self.family(prefix) if not in_header else (prefix,)
                mine = [symbol for path in family for symbol in places.get(path, ())]
                if mine:
                    return mine
                continue
            for opened in self._opened(prefix):
                if opened in places:
                    found.update(dict.fromkeys(places[opened]))
        return list(found)

    def _opened(self, prefix: Path) -> tuple[Path, ...]:
        """This scope and the namespaces that using directives open in it."""
        found = self._openings.get(prefix)
        if found is None:
            targets = self._using.get(prefix, ())
            used = [prefix[:length] + target for target in targets for length in range(len(prefix) + 1)]
            found = self._openings[prefix] = tuple(dict.fromkeys((prefix, *used)))
        return found

    def _associated(self, name: str, places: Places) -> tuple[Symbol, ...]:
        """By a using declaration, else by the arguments' namespaces, which are not followed: all of them."""
        if name not in self._anywhere:
            targets = self._aliases.get(name, ())
            self._anywhere[name] = tuple(
                symbol
                for scope, symbols in places.items()
                if (any(_ends((*scope, name), t) for t in targets) if targets else scope not in self.classes)
                for symbol in symbols
            )
        return self._anywhere[name]

    def _qualified(self, asked: Asked, places: Places, inside: Path) -> tuple[Symbol, ...]:
        """By the qualifiers seen from here, else wherever they lead."""
        qualifiers = asked[1]
        found: dict[Symbol, None] = {}
        for length in range(len(inside), -1, -1):
            for scope in self._opened(inside[:length]):
                symbols = places.get(scope + qualifiers)
                if symbols:
                    found.update(dict.fromkeys(symbols))
        if found:
            return tuple(found)
        if asked not in self._suffixed:
            self._suffixed[asked] = tuple(self._led_to(qualifiers, places))
        return self._suffixed[asked]

    def _led_to(self, qualifiers: Path, places: Places) -> list[Symbol]:
        """By any scope that ends in the qualifiers, else through an alias, else in the bases of a class."""
        aliased = [target + qualifiers[1:] for target in self._aliases.get(qualifiers[0], ())]
        for wanted in self._spelled((qualifiers, *aliased)):
            found = [s for scope, symbols in places.items() if _ends(scope, wanted) for s in symbols]
            if found:
                return found
        named = self.by_name.get(qualifiers[-1], ())
        paths = dict.fromkeys(symbol.definition.path for symbol in named if symbol.kind == "class")
        classes = [path for path in paths if _ends(path, qualifiers)]
        return [s for path in classes for base in self.family(path) for s in places.get(base, ())]

    def _spelled(self, paths: Iterable[Path]) -> Iterator[Path]:
        """Each path, and what a macro that it begins with stands for."""
        for path in paths:
            yield path
            for _, macro in self.macros.get(path[0], ()):
                if macro.parameters is None and _PATH.fullmatch(macro.body.strip()):
                    yield (*re.findall(r"\w+", macro.body), *path[1:])

    def data_members(self, path: Path) -> frozenset[str]:
        """The names in a class outside its members' own definitions: its data members among them."""
        return frozenset[str]().union(*(symbol.words for symbol in self.classes.get(path, ())))


def link(units: Iterable[Unit], bit: int, reader: Reader) -> Program:
    """The units of one build, linked as one configuration (a mask of one bit) compiles them.

    A line that is not known to be compiled or not counts as compiled.
    """
    files = (activity for unit in units for activity in unit.files.values())
    return Program(reader.file(activity.path, activity.inactive(bit)) for activity in files)


def execution_kind(definition: Definition, macros: Mapping[str, Sequence[tuple[str, Macro]]]) -> Kind:
    """A definition's kind, its execution space read through the macros that may spell it."""
    return spelled_kind(definition.leading, macros) if definition.is_function else definition.kind


def spelled_kind(leading: Sequence[str], macros: Mapping[str, Sequence[tuple[str, Macro]]]) -> Kind:
    """The kind of a function from the words before its name, read through macros."""
    found: set[str] = set(leading)
    todo = list(leading)
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
def expanded(macro: Macro, arguments: tuple[str, ...]) -> tuple[ActiveText, FileFunctions]:
    """An expanded macro's text and what it defines; many builds expand the same."""
    active = read(substitute(macro, arguments).encode("latin-1")).active()
    return active, outline(active)


def _macro_symbol(path: str, macro: Macro) -> Symbol:
    size = len(macro.body)
    definition = Definition(
        macro.name, "macro", (), macro.line, macro.line, macro.end_line, 0, size, (0, size)
    )
    drops = frozenset(p.removesuffix("...") or "__VA_ARGS__" for p in macro.parameters or ())
    source = read(macro.body.replace("\\\n", " \n").encode("latin-1"))
    text = ActiveText(source, macro.body, source.code, ())
    return Symbol(path, definition, "macro", text, drops | {macro.name})


def _spans(definition: Definition) -> tuple[tuple[int, int], ...]:
    """The offsets of what a definition itself says: of a class, what is outside its members' definitions."""
    start = definition.start if definition.is_function else definition.body[0]
    return definition.pieces or ((start, definition.end),)


def _ends(scope: Path, qualifiers: Path) -> bool:
    return len(qualifiers) <= len(scope) and scope[-len(qualifiers) :] == qualifiers
