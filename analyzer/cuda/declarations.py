"""What the text before an opening brace declares: a namespace, a class, a function, or something else."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from analyzer import data

Opens = Literal["namespace", "class", "function", "initializer", "other"]

TOKEN = re.compile(
    r"[A-Za-z_]\w*|\d(?:[\w.]|'(?=\w))*|::|->|\.\.\.|<<=|>>=|<=|>=|==|!=|&&|\|\||<<|[+\-*/%^&|]=|\S"
)
_CLASS_KEYS = ("class", "struct", "union")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Header:
    """A parsed declaration header. Offsets are relative to the header's text."""

    opens: Opens
    name: str = ""
    qualifiers: tuple[str, ...] = ()
    template: str = ""
    arguments: str = ""
    leading: tuple[str, ...] = ()
    trailing: tuple[str, ...] = ()
    name_at: int = 0
    parameters: int = 0
    invocations: tuple[tuple[str, int, int], ...] = ()
    sure: bool = True


class _Item(NamedTuple):
    """A token at depth 0; a group in parentheses is one item, template arguments belong to their name."""

    text: str
    start: int
    end: int
    arguments: str = ""

    @property
    def is_name(self) -> bool:
        return self.text[0].isalpha() or self.text[0] in "_~"


@cache
def words(table: str, key: str) -> frozenset[str]:
    """A word list of ``queries/cuda_syntax.toml``."""
    return frozenset(data.table("cuda_syntax")[table][key])


@lru_cache(maxsize=65536)  # the passes over a file, and the many headers that begin alike
def parse(text: str) -> Header:
    """What the header ``text`` (everything since the last boundary, up to a ``{``) opens."""
    items, assigned = _items(text)
    items, template = _without_templates(text, _without_labels(items))
    if not items:
        return Header("initializer" if assigned else "other")
    names = [item.text for item in items]
    if "namespace" in names[:2]:
        return _namespace(items[names.index("namespace") + 1 :], inline="inline" in names[:1])
    if names[0] == "extern" and not any(item.text == "()" for item in items):
        return Header("namespace" if text.rstrip().endswith('"') else "other")
    group = next((i for i, item in enumerate(items) if item.text == "()" and _names_it(items, i)), None)
    key = next((i for i, name in enumerate(names) if name in _CLASS_KEYS), None)
    if key is not None and names[max(key - 1, 0)] != "enum" and not assigned:
        header = _class(items, key, template)
        if header is not None:
            return header
    if "enum" in names and (group is None or names.index("enum") < group):
        return Header("other")
    if group is not None:
        return _function(items, template, assigned)
    return Header("initializer")


def template_parameters(template: str) -> frozenset[str]:
    """The names that a ``template <...>`` header (or several of them) introduces."""
    found: set[str] = set()
    opened: list[str] = []
    last, valued = "", False
    for match in TOKEN.finditer(template):
        token = match[0]
        closes = bool(opened) and token == (">" if opened[-1] == "<" else _CLOSING[opened[-1]])
        if len(opened) == 1 and last and (closes or token == ","):
            found.add(last)
        if closes:
            opened.pop()
        elif token == "<" or token in _CLOSING:
            opened.append(token)
        if len(opened) != 1 or token in ("<", ","):
            last, valued = ("", False) if len(opened) <= 1 else (last, valued)
        elif token == "=":
            valued = True
        elif not valued and (token[0].isalpha() or token[0] == "_"):
            last = "" if token in words("keywords", "words") else token
    return frozenset(found)


def _items(text: str) -> tuple[list[_Item], bool]:
    """The depth-0 tokens of a header, and whether a ``=`` ended them (an initializer follows)."""
    tokens = [(m[0], m.start(), m.end()) for m in TOKEN.finditer(text)]
    items: list[_Item] = []
    at = 0
    while at < len(tokens):
        token, start, end = tokens[at]
        if token == "operator":
            at, item = _operator(tokens, at)
            items.append(item)
            continue
        if token in _CLOSING:
            close = _matching(tokens, at)
            stop = tokens[close][2] if close < len(tokens) else len(text)
            items.append(_Item(token + _CLOSING[token], start, stop))
            at = close + 1
            continue
        if token == "<" and items and items[-1].is_name:
            close = _angle(tokens, at)
            if close < len(tokens):
                stop = tokens[close][2]
                items[-1] = _Item(items[-1].text, items[-1].start, stop, text[start:stop])
                at = close + 1
                continue
        if token == "=":
            return items, True
        items.append(_Item(token, start, end))
        at += 1
    return items, False


def _operator(tokens: list[tuple[str, int, int]], at: int) -> tuple[int, _Item]:
    """The item of an operator's name (``operator()``, ``operator+=``, ``operator float``)."""
    start = tokens[at][1]
    if [t[0] for t in tokens[at + 1 : at + 3]] == ["(", ")"]:
        return at + 3, _Item("operator()", start, tokens[at + 2][2])
    stop = at + 1
    while stop < len(tokens) and tokens[stop][0] != "(":
        stop += 1
    words_of_it = [t[0] for t in tokens[at + 1 : stop]]
    space = " " if words_of_it and words_of_it[0][0].isalpha() else ""
    return stop, _Item("operator" + space + "".join(words_of_it), start, tokens[stop - 1][2])


def _matching(tokens: list[tuple[str, int, int]], at: int) -> int:
    """The index of the token that closes the bracket at ``at``; the number of tokens if none does."""
    opening = tokens[at][0]
    closing, depth = _CLOSING[opening], 0
    for index in range(at, len(tokens)):
        token = tokens[index][0]
        if token == opening:
            depth += 1
        elif token == closing:
            depth -= 1
            if depth == 0:
                return index
    return len(tokens)


def _angle(tokens: list[tuple[str, int, int]], at: int) -> int:
    """The index of the ``>`` that closes the ``<`` at ``at``; the number of tokens if none does."""
    depth = 0
    while at < len(tokens):
        token = tokens[at][0]
        if token in _CLOSING:
            at = _matching(tokens, at)
        elif token == "<":
            depth += 1
        elif token == ">":
            depth -= 1
            if depth == 0:
                return at
        elif token == ";":
            break
        at += 1
    return len(tokens)


def _without_labels(items: list[_Item]) -> list[_Item]:
    while len(items) > 1 and items[0].text in ("public", "private", "protected") and items[1].text == ":":
        items = items[2:]
    return items


def _without_templates(text: str, items: list[_Item]) -> tuple[list[_Item], str]:
    """The items after the template headers and their constraints, and those headers' text."""
    start = end = items[0].start if items else 0
    while items and items[0].text == "template" and items[0].arguments:
        end, items = items[0].end, items[1:]
        if items and items[0].text == "requires":
            items = items[1:]
            while items:
                while len(items) > 1 and items[0].is_name and items[1].text == "::":
                    items = items[2:]
                items = items[1:]
                if not items or items[0].text not in ("&&", "||"):
                    break
                items = items[1:]
    return items, " ".join(text[start:end].split())


def _namespace(items: list[_Item], inline: bool) -> Header:
    names = tuple(item.text for item in items if item.is_name and item.text != "inline")
    return Header("namespace", qualifiers=() if inline else names)


def _class(items: list[_Item], key: int, template: str) -> Header | None:
    """The class that the items declare; None if the class key belongs to a function's return type."""
    name: _Item | None = None
    qualifiers: list[str] = []
    at = key + 1
    while at < len(items):
        item = items[at]
        if item.text == ":":
            break
        if item.text == "()":
            before = items[at - 1].text
            if before not in words("specifiers", "with_arguments"):
                return None
        elif item.is_name and item.text != "final":
            if items[at - 1].text == "::" and name is not None:
                qualifiers.append(name.text)
            else:
                qualifiers = []
            name = item
        at += 1
    if name is None:
        return Header("class", template=template)
    return Header("class", name.text, tuple(qualifiers), template, name.arguments, name_at=name.start)


def _names_it(items: list[_Item], group: int) -> bool:
    """Whether the item before a parenthesised group can be the name of a function."""
    if group == 0 or not items[group - 1].is_name:
        return False
    return items[group - 1].text not in words("specifiers", "with_arguments")


def _function(items: list[_Item], template: str, assigned: bool) -> Header:
    """The function that the items declare: the first named group that no further declarator follows."""
    after_words = words("specifiers", "after_parameters")
    invocations: list[tuple[str, int, int]] = []
    groups = [i for i, item in enumerate(items) if item.text == "()" and _names_it(items, i)]
    chosen, sure = groups[0], True
    for number, group in enumerate(groups):
        chosen = group
        following = items[group + 1] if group + 1 < len(items) else None
        if following is None or not following.is_name or following.text in after_words:
            break
        if number + 1 == len(groups):
            sure = False
            break
        if group == 1:
            invocations.append((items[0].text, items[0].start, items[group].end))
            items, groups = items[2:], [g - 2 for g in groups]
            return _again(items, template, assigned, invocations)
    return _named(items, chosen, template, invocations, sure)


def _again(
    items: list[_Item], template: str, assigned: bool, invocations: list[tuple[str, int, int]]
) -> Header:
    """The function after a macro invocation that stood alone in front of it."""
    rest = _function(items, template, assigned)
    names = tuple(name for name, _, _ in invocations)
    return replace(rest, leading=names + rest.leading, invocations=(*invocations, *rest.invocations))


def _named(
    items: list[_Item], group: int, template: str, invocations: list[tuple[str, int, int]], sure: bool
) -> Header:
    after = items[group + 1 :]
    colon = next((i for i, item in enumerate(after) if item.text == ":"), None)
    last = after[-1] if after else items[group]
    if colon is not None and (last.is_name or last.text in (":", ",")) and len(after) > colon + 1:
        return Header("initializer")  # the brace of a member's initializer, not yet the body
    name = items[group - 1]
    at = group - 1
    if at and items[at - 1].text == "~":
        at -= 1
    prefix = "~" if items[at].text == "~" else ""
    qualifiers: list[str] = []
    while at >= 2 and items[at - 1].text == "::" and items[at - 2].is_name:
        qualifiers.insert(0, items[at - 2].text)
        at -= 2
    return Header(
        "function",
        prefix + name.text,
        tuple(qualifiers),
        template,
        name.arguments,
        leading=tuple(item.text for item in items[:at] if item.is_name),
        trailing=tuple(item.text for item in after[:colon] if item.is_name),
        name_at=name.start,
        parameters=items[group].start,
        invocations=tuple(invocations),
        sure=sure,
    )
