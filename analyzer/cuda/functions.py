"""What one file defines, as one compiler pass sees it: functions, classes, aliases, variables."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from analyzer.cuda import declarations
from analyzer.cuda.source import ActiveText, Lines, Macro, read

Kind = Literal["kernel", "device", "host", "host_device", "class", "alias", "variable", "macro"]
FUNCTIONS: frozenset[Kind] = frozenset({"kernel", "device", "host", "host_device"})

_BOUNDARY = re.compile(r"[{}();]")
_BRACES = re.compile(r"[{}]")
_PARENS = re.compile(r"[()]")
_ALIAS = re.compile(r"\busing\s+([A-Za-z_]\w*)\s*(?:\[\[[^\]]*\]\]\s*)?=")
_USING = re.compile(r"\busing\s+(namespace\s+)?([A-Za-z_][\w:\s]*)$")
_NAMESPACE_ALIAS = re.compile(r"\bnamespace\s+([A-Za-z_]\w*)\s*=\s*([\w:\s]+)$")
_TYPEDEF = re.compile(r"^\s*typedef\b.*?\b([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$", re.DOTALL)
_VARIABLE = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*=(?!=)")
_INVOCATION = re.compile(r"\s*(?:(?:public|private|protected)\s*:\s*)*([A-Za-z_]\w*)\s*\(")
_UNDEFINED = re.compile(r"(?:=\s*(?:default|delete|0)|\)(?:\s*(?:const|noexcept|override|final))*)\s*$")


class Definition(NamedTuple):
    """One definition. ``[start, end)`` are offsets in the file, ``body`` those of what it runs or stands for.

    ``header_line`` is where it begins (``template <...>``), ``line`` where a function's name stands.
    ``scope`` holds the namespaces (but unnamed and inline ones) and classes around it, outermost first.
    ``leading`` are the names before a function's own name (return type, specifiers, macros), ``pieces`` the
    parts of a class that are no definition of their own. ``doubtful``: the braces around it do not balance,
    or its header could be read in two ways.
    """

    name: str
    kind: Kind
    scope: tuple[str, ...]
    header_line: int
    line: int
    end_line: int
    start: int
    end: int
    body: tuple[int, int]
    parameters: int = 0
    template: str = ""
    arguments: str = ""
    leading: tuple[str, ...] = ()
    trailing: tuple[str, ...] = ()
    pieces: tuple[tuple[int, int], ...] = ()
    doubtful: bool = False

    @property
    def path(self) -> tuple[str, ...]:
        """Scope and name."""
        return (*self.scope, self.name)

    @property
    def qualified(self) -> str:
        """``flashinfer::norm::kernel``."""
        return "::".join(self.path)

    @property
    def is_function(self) -> bool:
        """Whether it is a function of any kind."""
        return self.kind in FUNCTIONS


@dataclass(frozen=True, slots=True)
class Invocation:
    """A macro-like call that stands where declarations stand; ``arguments`` are split at top-level commas."""

    name: str
    arguments: tuple[str, ...]
    scope: tuple[str, ...]
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Using:
    """A using directive (``name`` is None), using declaration or namespace alias, and where it holds."""

    name: str | None
    target: tuple[str, ...]
    scope: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class FileFunctions:
    """What a file defines in one compiler pass; a pure function of its bytes and its inactive lines."""

    definitions: tuple[Definition, ...]
    invocations: tuple[Invocation, ...]
    usings: tuple[Using, ...]
    macros: tuple[Macro, ...]
    balanced: bool

    @cached_property
    def functions(self) -> tuple[Definition, ...]:
        """The functions among the definitions, by line."""
        return tuple(d for d in self.definitions if d.is_function)

    def enclosing(self, line: int) -> Definition | None:
        """The innermost function whose lines hold this one, header included."""
        at = bisect_right(self.functions, line, key=_first_line) - 1  # no function is defined inside another
        found = self.functions[at] if at >= 0 else None
        return found if found is not None and line <= found.end_line else None


def _initialised(text: str) -> re.Match[str] | None:
    """The variable that a statement declares with a value, which may end in a parenthesis."""
    match = _VARIABLE.search(text) if "=" in text else None
    if match is None or _UNDEFINED.search(text) is None:
        return match
    plain = not text.startswith("template") and match[1] != "operator" and "(" not in text[: match.start()]
    return match if plain and text.endswith(")") else None


def facts(data: bytes, inactive: Sequence[Lines] = ()) -> FileFunctions:
    """What the file defines when these runs of lines are compiled out."""
    return outline(read(data).active(inactive))


def outline(text: ActiveText) -> FileFunctions:
    """What the file defines, as this pass sees it."""
    return _Outline(text).run()


@dataclass(slots=True)
class _Scope:
    """An open namespace or class, and the parts of a class collected so far."""

    names: tuple[str, ...]
    header: declarations.Header | None = None
    start: int = 0
    open: int = 0
    pieces: list[tuple[int, int]] = field(default_factory=list)


class _Outline:
    """One pass over a file's structure: braces, parentheses, semicolons."""

    def __init__(self, text: ActiveText) -> None:
        self.text, self.code, self.source = text, text.code, text.source
        self.definitions: list[Definition] = []
        self.invocations: list[Invocation] = []
        self.usings: list[Using] = []
        self.scopes: list[_Scope] = [_Scope(())]
        self.balanced = True

    def run(self) -> FileFunctions:
        code, at, header = self.code, 0, 0
        while (match := _BOUNDARY.search(code, at)) is not None:
            token, at = match[0], match.end()
            if token == "(":
                at = self._past(_PARENS, match.start())
            elif token == ";":
                self._statement(header, match.start())
                header = at
            elif token == "}":
                self._statement(header, match.start())
                self._close(match.start())
                header = at
            elif token == "{":
                at, header = self._brace(header, match.start())
        self._statement(header, len(code))
        self.balanced = self.balanced and len(self.scopes) == 1
        while len(self.scopes) > 1:
            self._close(len(code))
        definitions = sorted(self.definitions, key=lambda d: (d.start, -d.end))
        return FileFunctions(
            tuple(definitions), tuple(self.invocations), tuple(self.usings), self.text.macros(), self.balanced
        )

    @property
    def scope(self) -> tuple[str, ...]:
        return self.scopes[-1].names

    def _past(self, brackets: re.Pattern[str], at: int) -> int:
        """The offset after the bracket that closes the one at ``at``; the end of the text if none does."""
        depth = 0
        for match in brackets.finditer(self.code, at):
            depth += 1 if match[0] in "({" else -1
            if depth == 0:
                return match.end()
        self.balanced = False
        return len(self.code)

    def _brace(self, start: int, at: int) -> tuple[int, int]:
        """Enter or skip the brace at ``at``; answers where to go on, and where the next header starts."""
        header = declarations.parse(self.code[start:at])
        self._invocations(header, start)
        if header.opens == "namespace":
            self.scopes.append(_Scope(self.scope + header.qualifiers))
            return at + 1, at + 1
        if header.opens == "class" and header.name:
            names = self.scope + header.qualifiers + (header.name,)
            self.scopes.append(_Scope(names, header, self._first(start, at), at))
            return at + 1, at + 1
        if header.opens == "class":
            self.scopes.append(_Scope(self.scope))
            return at + 1, at + 1
        end = self._past(_BRACES, at)
        if header.opens != "function":
            return end, (start if header.opens == "initializer" else end)
        self._function(header, start, at, end)
        return end, end

    def _first(self, start: int, stop: int) -> int:
        """The offset of the first character that is not white space."""
        return start + len(self.code[start:stop]) - len(self.code[start:stop].lstrip())

    def _function(self, header: declarations.Header, start: int, brace: int, end: int) -> None:
        begin = self._first(max([start, *(start + stop for _, _, stop in header.invocations)]), brace)
        self.definitions.append(
            Definition(
                name=header.name,
                kind=execution_space(header.leading),
                scope=self.scope + header.qualifiers,
                header_line=self.source.line(begin),
                line=self.source.line(start + header.name_at),
                end_line=self.source.line(end - 1),
                start=begin,
                end=end,
                body=(brace, end),
                parameters=start + header.parameters,
                template=header.template,
                arguments=header.arguments,
                leading=header.leading,
                trailing=header.trailing,
                doubtful=not (header.sure and self.balanced),
            )
        )

    def _close(self, at: int) -> None:
        if len(self.scopes) == 1:
            self.balanced = False
            return
        closed = self.scopes.pop()
        header = closed.header
        if header is None:
            return
        self.definitions.append(
            Definition(
                name=header.name,
                kind="class",
                scope=closed.names[:-1],
                header_line=self.source.line(closed.start),
                line=self.source.line(closed.start),
                end_line=self.source.line(at),
                start=closed.start,
                end=at,
                body=(closed.open, at),
                template=header.template,
                arguments=header.arguments,
                pieces=((closed.start, closed.open), *closed.pieces),
                doubtful=not self.balanced,
            )
        )

    def _invocations(self, header: declarations.Header, start: int) -> None:
        for name, first, last in header.invocations:
            self._invocation(name, start + first, start + last)

    def _invocation(self, name: str, start: int, end: int) -> None:
        inside = self.text.text.index("(", start) + 1
        arguments = tuple(split_arguments(self.text.text[inside : end - 1]))
        line = self.source.line(start)
        self.invocations.append(Invocation(name, arguments, self.scope, line, start, end))

    def _statement(self, start: int, end: int) -> None:
        """Record what a declaration without a body of its own says."""
        text = self.code[start:end]
        if not text.strip():
            return
        begin = self._first(start, end)
        if (match := _INVOCATION.match(text)) is not None and self._lone_invocations(start, end):
            return
        using = "using" in text  # told fast, for the many statements without
        if using and (match := _ALIAS.search(text)) is not None:
            self._define(match[1], "alias", begin, end, start + match.end())
        elif "namespace" in text and (match := _NAMESPACE_ALIAS.search(text)) is not None:
            self._using(match[1], match[2], begin)
        elif using and (match := _USING.search(text)) is not None:
            names = _names(match[2])
            self._using(None if match[1] else names[-1], match[2], begin)
        elif "typedef" in text and (match := _TYPEDEF.match(text)) is not None:
            self._define(match[1], "alias", begin, end, begin)
        elif (match := _initialised(text)) is not None:
            self._define(match[1], "variable", begin, end, begin)
        elif _UNDEFINED.search(text) is None and self.scopes[-1].header is not None:
            self.scopes[-1].pieces.append((begin, end))

    def _lone_invocations(self, start: int, end: int) -> bool:
        """Record the macro calls that make up a whole statement; False if it is anything else."""
        found, at = [], start
        while (match := _INVOCATION.match(self.code, at, end)) is not None:
            if match[1] in declarations.words("keywords", "words"):
                return False
            at = self._past(_PARENS, match.end() - 1)
            found.append((match[1], match.start(1), at))
        if self.code[at:end].strip():
            return False
        for name, first, last in found:
            self._invocation(name, first, last)
        return bool(found)

    def _define(self, name: str, kind: Kind, start: int, end: int, body: int) -> None:
        template = self.code[start:end].lstrip()
        header = ""
        if template.startswith("template"):
            header = template[: template.find("using")] if "using" in template else template.split("=")[0]
        self.definitions.append(
            Definition(
                name,
                kind,
                self.scope,
                self.source.line(start),
                self.source.line(start),
                self.source.line(max(start, end - 1)),
                start,
                end,
                (body, end),
                template=" ".join(header.split()),
                doubtful=not self.balanced,
            )
        )

    def _using(self, name: str | None, target: str, start: int) -> None:
        self.usings.append(Using(name, _names(target), self.scope, self.source.line(start)))


def _first_line(definition: Definition) -> int:
    return definition.header_line


def execution_space(words: Sequence[str]) -> Kind:
    """The kind of a function from the words before its name (qualifiers, spelled out)."""
    if declarations.words("execution_space", "kernel").intersection(words):
        return "kernel"
    device = bool(declarations.words("execution_space", "device").intersection(words))
    host = bool(declarations.words("execution_space", "host").intersection(words))
    return "host_device" if device and host else "device" if device else "host"


def split_arguments(text: str) -> Iterator[str]:
    """The arguments of a macro call, split at commas outside brackets and strings ([cpp.replace])."""
    depth, begin, quote = 0, 0, ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote and text[at - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1
    yield text[begin:].strip()


def _names(qualified: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in qualified.split("::") if part.strip())
