"""What scanned Python reads, renders and writes of the tree's device code: where made sources come from.

A build may copy a source, or render a template, into a folder of its own, and compile what lies there. The
text itself is of no interest to Python: it is carried along as a name of what it is made of.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from analyzer.python.modules import ROOT
from analyzer.python.values import Builtin, Choice, Dict, Free, Site, Value, plain
from analyzer.tree.files import kind_of

if TYPE_CHECKING:
    from analyzer.python.machine import Machine

Args = list[Value]
Keywords = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Content:
    """The text of a file of the tree; of a template, with the values that it is rendered with.

    ``text``: one that Python itself writes or renders; it is then said to come from the line of ``origin``.
    """

    origin: str
    values: tuple[tuple[str, Any], ...] | None = None
    text: str | None = None
    line: int = 1


@dataclass(frozen=True, slots=True)
class Template:
    """A Jinja template whose text is a file of the tree, or stands in Python itself (``text``)."""

    origin: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """An open file; ``mode`` as for ``open``."""

    path: str
    mode: str


def content(m: Machine, path: str) -> Value | None:
    """The content of a file of the tree with device code; None of any other."""
    inside = posixpath.normpath(path.removeprefix(ROOT))
    if path.startswith(ROOT) and inside in m.index.files and kind_of(inside) == "cuda":
        return Value(Content(inside))
    return None


def opened(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    """``open(path, mode)``."""
    path = args[0].data if args else keywords.get("file", Value(None)).data
    mode = args[1].data if len(args) > 1 else keywords.get("mode", Value("r")).data
    if isinstance(path, (str, PurePosixPath)) and isinstance(mode, str):
        return Value(Stream(str(path), mode))
    return Value(Free("a file"))


def attribute(m: Machine, value: Value, name: str) -> Value | None:
    """A method of a stream or template; None of anything else."""
    data = value.data
    if isinstance(data, Stream):
        return Value(
            Builtin(name, lambda machine, site, args, keywords: _on_stream(machine, data, name, args))
        )
    if isinstance(data, Template) and name == "render":
        return Value(
            Builtin(name, lambda machine, site, args, keywords: _rendered(machine, data, args, keywords))
        )
    if isinstance(data, (Content, Template)):
        return Value(Free(f"{name} of a text"))
    return None


def template(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    """``jinja2.Template(text)``."""
    data = args[0].data if len(args) == 1 and not keywords else None
    if isinstance(data, Content) and data.values is None:
        return Value(Template(data.origin, data.text))
    if isinstance(data, str):
        return Value(Template("", data))
    return Value(Free("a template"))


def copied(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    """``shutil.copy(source, target)`` and its kin."""
    if len(args) >= 2 and all(isinstance(each.data, (str, PurePosixPath)) for each in args[:2]):
        found = content(m, str(args[0].data))
        write(m, str(args[1].data), found if found is not None else Value(Free("a file")))
    return args[1] if len(args) >= 2 else Value(None)


def write(m: Machine, path: str, text: Value) -> None:
    """A file is given this text; of one that is given several, nothing is known.

    Texts of Python itself are kept where those with holes are asked for: scripts that are not fully known.
    """
    known = isinstance(text.data, Content) or (m.holes and isinstance(text.data, str))
    made = text.data if known else None
    m.written[path] = made if m.written.get(path, made) == made else None


def _on_stream(m: Machine, stream: Stream, name: str, args: Args) -> Value:
    reads = "r" in stream.mode and "+" not in stream.mode
    if name == "read" and not args and reads:
        found = content(m, stream.path)
        return found if found is not None else Value(Free("the content of a file"))
    if name in ("write", "writelines") and not reads:
        whole = name == "write" and len(args) == 1 and stream.mode in ("w", "wt", "x")
        write(m, stream.path, args[0] if whole else Value(Free("a text")))
        return Value(Free("how much was written"))
    return Value(Free(f"{name} of a file"))


def _rendered(m: Machine, data: Template, args: Args, keywords: Keywords) -> Value:
    given = dict(keywords)
    for each in args:
        items = each.data.items if isinstance(each.data, Dict) and not each.data.open else None
        if items is None or not all(isinstance(key, str) for key in items):
            return Value(Free("a text"))
        given.update({str(key): value for key, (_, value) in items.items()})
    try:
        values = tuple((key, plain(_one(m, given[key]))) for key in sorted(given))
    except ValueError:
        return Value(Free("a text"))
    return Value(Content(data.origin, values, data.text))


def _one(m: Machine, value: Value) -> Value:
    """The value; where one of many builds is made and it may be one of several, the first of these."""
    return value.data.options[0] if m.to_measure and isinstance(value.data, Choice) else value
