"""Preprocessing tokens: split text into them, join them back."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<name>[A-Za-z_$][\w$]*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\])*")
  | (?P<char>'(?:\\.|[^'\\])+')
  | (?P<operator>\#\#|%:%:|<<|>>|<=|>=|==|!=|&&|\|\||\.\.\.|::|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*\Z")

#: Operators spelled as words (C++ [lex.digraph]); in a condition they are no identifiers.
WORDS = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "not_eq": "!=",
    "bitand": "&",
    "bitor": "|",
    "xor": "^",
    "compl": "~",
}


def split(text: str) -> tuple[str, ...]:
    """The tokens of comment-free text; white space between two tokens is kept as one ``" "``."""
    tokens = []
    for match in _TOKEN.finditer(text.strip()):
        tokens.append(" " if match.lastgroup == "space" else match.group())
    return tuple(tokens)


def is_name(token: str) -> bool:
    """Whether the token is an identifier."""
    return bool(_NAME.match(token))


def names(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The identifiers among the tokens, each once, in order."""
    return tuple(dict.fromkeys(t for t in tokens if is_name(t)))
