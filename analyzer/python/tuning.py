"""Files of settings that are looked up by the product name of the GPU: for whose products the tree has some.

The name of such a file is put together from text and the product's name. A gate is the place that asks for
it, where some architecture's products have files of that form and those of others have none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from analyzer import data
from analyzer.identity import Numbering
from analyzer.model import Effect, Gate, Justification, Step, Verdict
from analyzer.python.modules import ModuleIndex
from analyzer.python.sides import announcing
from analyzer.python.syntax import ParsedFile

#: A name of a function that is this short says too little to be followed.
_SHORT = 6
_MEASURED = "such settings are measured on the product: those for another one are not in the tree"
_NUMBER = re.compile(r"\d+")
_LIKE_SPACES = re.compile(r"[_\- ]")

Part = str | ast.expr
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Lookup:
    """A file name that is made with a product's name: the text before it and after it, ``None`` for holes.

    ``warns``: the function, or one of the file that calls it, warns of something.
    """

    asks: ast.expr
    scope: str
    before: tuple[str | None, ...]
    after: tuple[str | None, ...]
    warns: bool = False

    def pattern(self, product: str) -> re.Pattern[str]:
        """What names of files fit, with spaces for ``_`` and ``-``."""
        before, after = (
            "".join(".*?" if text is None else re.escape(_spaced(text)) for text in side)
            for side in (self.before, self.after)
        )
        return re.compile(f"{before}(?:{product}).*{after}")


@cache
def devices() -> Mapping[str, str]:
    """By architecture, how the names of its products begin."""
    return {row["arch"]: row["name"] for row in data.table("devices")["device"]}


def gates(
    index: ModuleIndex,
    words: Mapping[str, frozenset[str]],
    others: Sequence[str],
    target: str,
    references: Sequence[str],
    names: Sequence[str],
) -> tuple[Gate, ...]:
    """The gates at lookups of settings by product.

    ``words`` are the identifiers of each Python file, ``others`` the files of the tree that hold no code.
    """
    plain = [(folder, _spaced(name)) for folder, _, name in (path.rpartition("/") for path in others)]
    known = [name for name in names if name in devices()]
    made = []
    for file, lookups in sorted(_lookups(index, words).items()):
        numbering = Numbering()
        for lookup in lookups:
            held = _held(lookup, known, plain)
            if not any(held.values()) or all(held.values()):
                continue
            made.append(_gate(file, lookup, numbering, held, target, references))
    return tuple(made)


def _held(lookup: Lookup, known: Sequence[str], files: Sequence[tuple[str, str]]) -> dict[str, int]:
    """How many files of the form there are for products of each architecture.

    Of folders that differ in numbers alone, as by a version, the newest counts: that of what is new is looked
    into first, and an older one stands in for it.
    """
    found = {
        arch: [folder for folder, name in files if pattern.fullmatch(name)]
        for arch in known
        for pattern in [lookup.pattern(devices()[arch])]
    }
    newest: dict[str, str] = {}
    for folder in {folder for folders in found.values() for folder in folders}:
        series = _NUMBER.sub("#", folder)
        newest[series] = max(newest.get(series, folder), folder, key=_numbers)
    counted = set(newest.values())
    return {arch: sum(folder in counted for folder in folders) for arch, folders in found.items()}


def _numbers(folder: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(folder)]


def _spaced(text: str) -> str:
    return _LIKE_SPACES.sub(" ", text)


def _gate(
    file: str,
    lookup: Lookup,
    numbering: Numbering,
    held: Mapping[str, int],
    target: str,
    references: Sequence[str],
) -> Gate:
    verdict: dict[str, Verdict] = {arch: "admit" if count else "reject" for arch, count in held.items()}
    lost = verdict.get(target) == "reject" and any(verdict.get(arch) == "admit" for arch in references)
    effect: Effect = "degraded" if lost else "none"
    there = ", ".join(f"{count} for {arch}" for arch, count in held.items() if count and arch != target)
    own = held.get(target) or "none"
    what = f"names a file by the GPU's product: the tree holds {own} for products of {target}, {there}"
    node, code = lookup.asks, ast.unparse(lookup.asks)
    name, order = numbering.next("runtime", file, lookup.scope, code)
    return Gate(
        id=name,
        layer="runtime",
        file=file,
        line=node.lineno,
        end_line=node.end_lineno or node.lineno,
        column=node.col_offset + 1,
        scope=lookup.scope,
        code=code,
        verdict=verdict,
        effect=effect,
        silent=lost and not lookup.warns,
        falls_back_to="settings for no product" if lost else None,
        because=(Step(file, node.lineno, what),),
        justification=Justification("unknown", (Step(file, node.lineno, _MEASURED),)) if lost else None,
        order=order,
        admits="settings from a file" if lost else None,
    )


def _lookups(index: ModuleIndex, words: Mapping[str, frozenset[str]]) -> dict[str, list[Lookup]]:
    """The lookups of each file. Functions that give a product's name count like the calls that do."""
    asking = set(data.table("devices")["asked"]["calls"])
    modules = {source.file: name for name, source in index.sources.items()}
    read: dict[str, list[tuple[str, Function]]] = {}
    parsed: dict[str, ParsedFile] = {}
    while True:
        before = len(asking)
        for file in sorted(words):
            if file in modules and asking & words[file]:
                source = index.find(modules[file])
                assert source is not None
                parsed[file] = source.parsed
                read[file] = _mentioning(source.parsed, asking)
        for functions in read.values():
            for _, function in functions:
                if len(function.name) >= _SHORT and _gives(function, asking):
                    asking.add(function.name)
        if len(asking) == before:
            break
    found = {file: list(_in_file(parsed[file], functions, asking)) for file, functions in read.items()}
    return {file: lookups for file, lookups in found.items() if lookups}


def _mentioning(parsed: ParsedFile, names: set[str]) -> list[tuple[str, Function]]:
    """The functions of a file that mention one of some names, read, with their qualified names."""
    pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(name.encode()) for name in sorted(names)) + rb")\b")
    lines = parsed.data.split(b"\n")
    found = []
    for scope, function in _functions(parsed.module.body, ""):
        last = function.end_lineno or function.lineno
        if any(pattern.search(line) for line in lines[function.lineno - 1 : last]):
            parsed.body(function)
            found.append((scope, function))
    return found


def _functions(body: Sequence[ast.stmt], scope: str) -> Iterator[tuple[str, Function]]:
    """All functions, with their qualified names."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{scope}.{statement.name}".removeprefix(".")
            if not isinstance(statement, ast.ClassDef):
                yield name, statement  # whoever takes it may read its body first
            yield from _functions(statement.body, name)
        else:
            for field in ("body", "orelse", "finalbody", "handlers"):
                inner = getattr(statement, field, [])
                yield from _functions([one for one in inner if isinstance(one, ast.stmt)], scope)


def _asks(node: ast.AST, asking: set[str]) -> bool:
    """Whether an expression calls for a product's name."""
    return any(
        isinstance(inner, ast.Call)
        and (getattr(inner.func, "attr", None) or getattr(inner.func, "id", None)) in asking
        for inner in ast.walk(node)
    )


def _gives(function: Function, asking: set[str]) -> bool:
    """Whether a function returns a product's name, or a text made of nothing else."""
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
    return any(not isinstance(node, ast.JoinedStr) and _asks(node, asking) for node in returned)


def _in_file(
    parsed: ParsedFile, functions: Sequence[tuple[str, Function]], asking: set[str]
) -> Iterator[Lookup]:
    for scope, function in functions:
        bound = {
            node.targets[0].id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and not isinstance(node.value, ast.JoinedStr)
            and _asks(node.value, asking)
        }
        told: set[int] = set()
        for node in ast.walk(function):
            if not isinstance(node, (ast.JoinedStr, ast.BinOp)) or id(node) in told:
                continue
            told.update(map(id, ast.walk(node)))
            lookup = _lookup(scope, list(_parts(node)), bound, asking)
            if lookup is not None:
                callers = [one for _, one in _mentioning(parsed, {function.name})]
                yield replace(lookup, warns=any(map(_warns, [function, *callers])))


def _warns(function: Function) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in announcing()
        and ("warn" in node.func.attr or "error" in node.func.attr)
        for node in ast.walk(function)
    )


def _parts(node: ast.expr) -> Iterator[Part]:
    """The pieces that a text is put together from."""
    if isinstance(node, ast.JoinedStr):
        for value in node.values:
            yield from _parts(value)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        yield node.value if isinstance(node, ast.FormattedValue) else node


def _lookup(
    scope: str, parts: Sequence[Part], bound: Mapping[str, ast.expr], asking: set[str]
) -> Lookup | None:
    """The lookup that a text is, if it holds a product's name and looks like the name of a file."""
    for place, part in enumerate(parts):
        if isinstance(part, str):
            continue
        asks = bound.get(part.id) if isinstance(part, ast.Name) else part if _asks(part, asking) else None
        if asks is None:
            continue
        last = parts[-1]
        if not isinstance(last, str) or "." not in last:
            return None
        texts = [one if isinstance(one, str) else None for one in parts]
        folders = [at for at, text in enumerate(texts[:place]) if text and "/" in text]
        before = texts[folders[-1] if folders else 0 : place]
        if folders and before[0] is not None:
            before[0] = before[0].rpartition("/")[2]
        return Lookup(asks, scope, tuple(before), tuple(texts[place + 1 :]))
    return None
