"""Sources that a build makes: copies of the tree's, and its templates rendered line for line.

What is said of a line of a made source is said of the same line of the file that it is made of. So every
line of a template stays where it is: what further rounds of a loop give stands after the loop's end. A
template for which that cannot be is not rendered.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from analyzer.cuda.made import MadeSource
from analyzer.python.contents import Content
from analyzer.tree.errors import TreeError

#: How long a rendered text may be, and how often a loop's body may be repeated.
_LONGEST, _ROUNDS = 2**20, 4096
#: Ends each line of a template while it is rendered, after its number.
_MARK = "\ue000"
_PLAIN = (
    *(nodes.TemplateData, nodes.Output, nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Filter),
    *(nodes.If, nodes.For, nodes.Assign, nodes.CondExpr, nodes.Concat),
    *(nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not),
)
_FILTERS = frozenset(["lower", "upper", "int", "string", "trim", "default"])
_WORD = re.compile(r"[A-Za-z_]\w*")


class NotRenderedError(ValueError):
    """A template is none that can be rendered line for line; says why."""


def made_sources(
    wanted: Sequence[str], contents: Mapping[str, Content], read: Callable[[str], str]
) -> tuple[tuple[MadeSource, ...], dict[str, str]]:
    """The sources that a build makes, with what it puts beside them; and why others could not be made.

    Of sources that differ in nothing that decides what can be run (neither in a directive, nor in the words
    that are used, nor in what lies beside them) only the first is given.

    Args:
        wanted: the paths of the sources; of other paths the contents are those of headers.
        contents: what the build writes, by path.
        read: the text of a file of the tree.
    """
    texts: dict[str, MadeSource] = {}
    failed: dict[str, str] = {}
    for path, content in contents.items():
        try:
            text = "\n" * (content.line - 1) + content.text if content.text else read(content.origin)
            if content.values is not None:
                text = rendered(text, dict(content.values))
            texts[path] = MadeSource(path, content.origin, text)
        except (TreeError, ValueError) as error:
            failed[path] = str(error)
    beside: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for path, one in texts.items():
        if path not in wanted:
            folder, _, name = path.rpartition("/")
            beside[folder].add((name, one.text))
    found: dict[object, MadeSource] = {}
    for path in wanted:
        made = texts.get(path)
        if made is not None:
            folder, _, name = path.rpartition("/")
            found.setdefault((_decisive(made), frozenset(beside[folder])), made)
    folders = {made.path.rpartition("/")[0] for made in found.values()}
    headers = (
        one for path, one in texts.items() if path not in wanted and path.rpartition("/")[0] in folders
    )
    return (*found.values(), *headers), failed


def _decisive(made: MadeSource) -> object:
    """Equal for sources of which the same can be run."""
    directives = tuple(line for line in made.text.split("\n") if line.lstrip().startswith("#"))
    return made.origin, made.path.rpartition(".")[2], directives, frozenset(_WORD.findall(made.text))


def rendered(template: str, values: Mapping[str, Any]) -> str:
    """A Jinja template with these values, each line where the template has it.

    Raises:
        NotRenderedError: it holds something else than conditions, loops over lists and plain expressions,
            or a directive or a comment would lose its line.
    """
    try:
        _check(_environment().parse(template), values)
        text = _environment().from_string(_marked(template)).render(values)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise NotRenderedError(f"the template is not rendered: {error}") from None
    if len(text) > _LONGEST:
        raise NotRenderedError("the rendered template is too long")
    return _placed(text, template.count("\n") + 1)


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(keep_trailing_newline=True)


def _check(template: nodes.Template, values: Mapping[str, Any]) -> None:
    pending: list[tuple[nodes.Node, int]] = [(node, 1) for node in template.body]
    for node, rounds in pending:
        if not isinstance(node, _PLAIN) or (isinstance(node, nodes.Filter) and node.name not in _FILTERS):
            raise NotRenderedError(f"{type(node).__name__.lower()} is not followed")
        if isinstance(node, nodes.For):
            rounds *= max(1, *(len(items) for items in _items(node.iter, values)))
        if rounds > _ROUNDS:
            raise NotRenderedError("its loops are too long")
        pending += ((child, rounds) for child in node.iter_child_nodes())


def _items(node: nodes.Node, values: Mapping[str, Any]) -> Iterable[Sequence[Any]]:
    """What a loop goes over, in all cases."""
    if isinstance(node, (nodes.List, nodes.Tuple)):
        yield node.items
    elif isinstance(node, nodes.Name) and isinstance(values.get(node.name), (list, tuple)):
        yield values[node.name]
    elif isinstance(node, nodes.CondExpr):
        yield from _items(node.expr1, values)
        yield from _items(node.expr2, values) if node.expr2 is not None else ()
    else:
        raise NotRenderedError("a loop over something else than a list")


def _marked(template: str) -> str:
    """The template with its number at the end of each line, where that is text."""
    parts = []
    line = 1
    for _, kind, value in _environment().lex(template):
        if kind != "data":
            line += value.count("\n")
            parts.append(value)
            continue
        first, *rest = value.split("\n")
        parts.append(first)
        for piece in rest:
            parts.append(f"{_MARK}{line}{_MARK}\n{piece}")
            line += 1
    return "".join(parts)


def _placed(text: str, count: int) -> str:
    """The text with its numbered lines where they belong."""
    lines = [""] * count
    waiting: list[str] = []
    last = 0
    for row in text.split("\n"):
        piece, mark, number = row.removesuffix(_MARK).partition(_MARK)
        place = int(number) if mark else 0
        if place <= last:  # a later round, or a value of several lines
            waiting.append(piece)
            continue
        lines[place - 1] = _joined([*waiting, piece])
        waiting, last = [], place
    lines[-1] = _joined(waiting)
    return "\n".join(lines)


def _joined(pieces: Sequence[str]) -> str:
    """Several lines as one; those that go on behind a backslash are one already.

    Raises:
        NotRenderedError: one of them must stand alone.
    """
    whole = [""]
    for piece in pieces:
        before = whole[-1].rstrip()
        if before.endswith("\\"):
            whole[-1] = f"{before[:-1]} {piece}"
        else:
            whole.append(piece)
    pieces = whole[1:]
    if len(pieces) == 1:
        return pieces[0]
    kept = []
    for piece in pieces:
        code, comment, _ = piece.partition("//")
        if code.lstrip().startswith("#") or code.rstrip().endswith("\\") or (comment and '"' in piece):
            raise NotRenderedError("a directive or a comment would lose its line")
        kept.append(code)
    return " ".join(part.strip() for part in kept if part.strip())
