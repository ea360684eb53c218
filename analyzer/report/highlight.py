"""Lines of code as HTML: Pygments finds the tokens, the deciding part is marked, hostile text is shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape
from pygments.lexers.c_like import CudaLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Keyword, Name, Number, String

from analyzer.report.source import visible

#: A line longer than this is shown in part, around its mark.
LINE_LIMIT = 400
_CUDA = (".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".jinja")
_CLASSES = (
    (Comment.Preproc, "p"),
    (Comment.PreprocFile, "s"),
    (Comment, "c"),
    (Keyword, "k"),
    (String, "s"),
    (Number, "m"),
    (Name.Decorator, "d"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Builtin, "b"),
)


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """Characters ``[start, end)`` of a line, and the anchor of the gate that they decide."""

    start: int
    end: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, ready to show."""

    number: int
    html: Markup


def lines(
    file: str, source: Sequence[str], wanted: Iterable[int], marks: dict[int, list[Mark]]
) -> list[Line]:
    """The wanted lines (from 1) of a file as HTML, ascending; lines that the file does not have are left out.

    Each run of neighbouring lines is read as a piece of its own: a token that began far above (a long
    comment, a text in triple quotes) may be coloured as code, but no character changes.
    """
    lexer = _lexer(file)
    result: list[Line] = []
    for run in _runs(n for n in wanted if 0 < n <= len(source)):
        shown = [_shown(source[n - 1], marks.get(n, [])) for n in run]
        texts = [text for text, _ in shown]
        spans = _spans(lexer, "\n".join(texts))
        for number, (text, line_marks), tokens in zip(run, shown, _by_line(spans, texts), strict=True):
            result.append(Line(number, _html(text, tokens, line_marks)))
    return result


def marked_part(line: str, column: int, code: str) -> tuple[int, int]:
    """Where the deciding part stands in a line: ``code`` at ``column`` (from 1) or elsewhere in it.

    Where the line does not hold the code as it stands (or ``code`` is empty): from the column to the end.
    """
    start = max(0, column - 1)
    if code:
        found = start if line.startswith(code, start) else line.find(code)
        if found >= 0:
            return found, found + len(code)
    end = len(line.rstrip())
    return min(start, max(0, end - 1)), end


@cache
def _lexer(file: str) -> Any:
    options = {"stripnl": False, "ensurenl": False}
    if file.endswith((".py", ".pyi")):
        return PythonLexer(**options)
    return CudaLexer(**options) if file.endswith(_CUDA) else TextLexer(**options)


def _runs(numbers: Iterable[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for number in sorted(set(numbers)):
        if run and number != run[-1] + 1:
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _shown(line: str, marks: list[Mark]) -> tuple[str, list[Mark]]:
    """A line as it is shown: cut when very long, invisible characters replaced; its marks moved along."""
    first = min((mark.start for mark in marks), default=0)
    start = 0 if len(line) <= LINE_LIMIT else max(0, min(first - 80, len(line) - LINE_LIMIT))
    end = min(len(line), start + LINE_LIMIT)
    before = f"… {start:,} characters … " if start else ""
    after = f" … {len(line) - end:,} characters …" if end < len(line) else ""
    moved = []
    for mark in marks:
        left, right = max(mark.start, start), min(mark.end, end)
        if left < right:
            at = len(before) + len(_safe(line[start:left]))
            moved.append(Mark(at, at + len(_safe(line[left:right])), mark.anchor))
    return before + _safe(line[start:end]) + after, moved


def _safe(text: str) -> str:
    return visible(text, keep="\t")


def _spans(lexer: Any, text: str) -> Iterator[tuple[str, str]]:
    for kind, value in lexer.get_tokens(text):
        yield _class(kind), value


@cache
def _class(kind: Any) -> str:
    return next((name for parent, name in _CLASSES if kind in parent), "")


def _by_line(spans: Iterable[tuple[str, str]], texts: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """For each line, where which class begins; the text itself is taken from ``texts``, never the lexer."""
    pending: list[tuple[int, str]] = []
    column = 0
    count = 0
    for name, value in spans:
        for index, piece in enumerate(value.split("\n")):
            if index:
                yield pending
                count += 1
                pending, column = [], 0
            if piece:
                pending.append((column, name))
                column += len(piece)
    yield pending
    for _ in range(count + 1, len(texts)):
        yield []


def _html(text: str, starts: list[tuple[int, str]], marks: list[Mark]) -> Markup:
    """A line as HTML: cut at every change of class and at both ends of every mark."""
    offsets = [offset for offset, _ in starts]
    ends = {0, len(text), *(o for o in offsets if o < len(text))}
    for mark in marks:
        ends |= {min(mark.start, len(text)), min(mark.end, len(text))}
    cuts = sorted(ends)
    out: list[str] = []
    now_anchor = now_name = ""
    for begin, end in pairwise(cuts):
        at = bisect_right(offsets, begin) - 1
        name = starts[at][1] if at >= 0 else ""
        anchor = next((m.anchor for m in marks if m.start <= begin < m.end), "")
        if (anchor, name) != (now_anchor, now_name):
            out.append("</i>" if now_name else "")
            if anchor != now_anchor:
                out.append(("</mark>" if now_anchor else "") + (f"<mark data-g={anchor}>" if anchor else ""))
            out.append(f"<i class={name}>" if name else "")
            now_anchor, now_name = anchor, name
        out.append(str(escape(text[begin:end])))
    out.append(("</i>" if now_name else "") + ("</mark>" if now_anchor else ""))
    return Markup("".join(out))
