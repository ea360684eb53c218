"""Synchronisation intrinsics and traps in a piece of code, by the table ``queries/intrinsics.toml``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from analyzer import data
from analyzer.cuda import ptx
from analyzer.cuda.source import closing
from analyzer.cuda.uses import Use, uses

#: Kinds whose loss breaks an ordering (a lost trigger costs only overlap, but is a lost synchronisation too).
SYNCHRONISATION = frozenset({"wait", "trigger", "barrier", "mbarrier", "fence", "async"})

_WORD = re.compile(r"[A-Za-z_]\w*")
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"|R"([^()\\\s]{0,16})\((.*?)\)\2"', re.DOTALL)
_FALSE = re.compile(r'\s*\(\s*(?:false\b|0\s*[&,)]|0\s*$|!\s*"|"[^"]*"\s*==\s*nullptr|\(?\s*false\b|0U?\b)')


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One row of the table, without its patterns."""

    name: str
    kind: str
    consequence: str
    source: str


@dataclass(frozen=True, slots=True)
class Site:
    """An intrinsic as it is spelled at an offset of the text."""

    intrinsic: Intrinsic
    spelled: str
    at: int


@lru_cache(maxsize=16384)  # the same lines are asked about as lost, as kept and as what stops
def sites(
    text: str, code: str, start: int, end: int, function: tuple[int, int] | None = None
) -> tuple[Site, ...]:
    """The intrinsics in ``text[start:end]``, in order.

    ``text`` holds no comments, ``code`` no string contents either (``source.ActiveText``). ``function`` is
    the range of the enclosing function: declarations in it tell the type of an object whose member is called.
    """
    found: list[Site] = []
    named = not _names().isdisjoint(_WORD.findall(code, start, end))  # most code has none: told fast
    for use in uses(code, start, end) if named else ():
        row = _call(use) if use.role == "name" else _member(use, code, function or (start, end))
        if row is not None and _condition_holds(row, text, use.at + len(use.name)):
            spelled = "::".join((*use.qualifiers, use.name)) if use.role == "name" else row["name"]
            found.append(Site(_intrinsic(row["name"]), spelled, use.at))
    for block in ptx.ASM.finditer(code, start, end) if code.find("asm", start, end) >= 0 else ():
        for match in _STRING.finditer(text, block.end(), closing(code, block.end())):
            inside = 1 if match[1] is not None else 3
            for opcode in _opcodes().finditer(match[inside]):
                row = _asm_rows()[opcode[1]]
                found.append(Site(_intrinsic(row["name"]), opcode[0], match.start(inside) + opcode.start()))
    return tuple(sorted(found, key=lambda site: (site.at, site.spelled)))


def _call(use: Use) -> dict[str, Any] | None:
    """The row that a plain or qualified call means."""
    if not use.called:
        return None
    for path, row in _call_rows().get(use.name, ()):
        known = path[:-1]
        if not use.qualifiers:
            if not row.get("qualified") and not any(name[0].isupper() for name in known[-1:]):
                return row
            continue  # a static member, or too common a name: bare, it is another function
        size = min(len(known), len(use.qualifiers))
        if size and known[-size:] == use.qualifiers[-size:]:
            return row
    return None


def _member(use: Use, code: str, function: tuple[int, int]) -> dict[str, Any] | None:
    """The row that a member call means, by the declaration of its object in the same function."""
    rows = _member_rows().get(use.name, ()) if use.called else ()
    if not rows:
        return None
    before = code[function[0] : use.at].rstrip()
    receiver = re.search(r"([A-Za-z_]\w*)\s*(\([^()]*\)\s*)?(?:\[[^\]]*\]\s*)?(?:\.|->)\s*$", before)
    if receiver is None:
        return None
    for row in rows:
        names = "|".join(map(re.escape, row["of"]))
        if receiver[1] in row["of"]:
            return row
        declaration = (
            rf"\b(?:{names})\b[^;{{}}]*[\s&*>]{receiver[1]}\b|\b{receiver[1]}\s*[=({{][^;]*\b(?:{names})\b"
        )
        if re.search(declaration, before):
            return row
    return None


def _condition_holds(row: dict[str, Any], text: str, after: int) -> bool:
    """Whether an intrinsic that counts only with a false argument (``assert``) has one here."""
    return row.get("when") != "false" or _FALSE.match(text, after) is not None


@cache
def _table() -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in data.table("intrinsics")["intrinsic"]}


@cache
def _intrinsic(name: str) -> Intrinsic:
    row = _table()[name]
    return Intrinsic(row["name"], row["kind"], row["consequence"], row["source"])


@cache
def _call_rows() -> dict[str, list[tuple[tuple[str, ...], dict[str, Any]]]]:
    rows: dict[str, list[tuple[tuple[str, ...], dict[str, Any]]]] = {}
    for row in _table().values():
        for name in row.get("call", ()):
            path = tuple(name.split("::"))
            rows.setdefault(path[-1], []).append((path, row))
    return rows


@cache
def _member_rows() -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in _table().values():
        for name in row.get("member", ()):
            rows.setdefault(name, []).append(row)
    return rows


@cache
def _names() -> frozenset[str]:
    """The names that a row of the table may mean."""
    return frozenset([*_call_rows(), *_member_rows()])


@cache
def _asm_rows() -> dict[str, dict[str, Any]]:
    return {opcode: row for row in _table().values() for opcode in row.get("asm", ())}


@cache
def _opcodes() -> re.Pattern[str]:
    """An opcode of the table at the start of an instruction: the longest that fits, with its suffixes."""
    names = "|".join(re.escape(name) for name in sorted(_asm_rows(), key=lambda name: (-len(name), name)))
    return re.compile(rf"(?:(?<![\w.%$])|(?<=\\n)|(?<=\\t))({names})(?:\.[\w:]+)*(?=[\s;\\]|$)")
