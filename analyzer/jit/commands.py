"""Compiler command lines: macros, include folders and architectures in their flags."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from analyzer.archs import Spelling
from analyzer.python.library import HOLE
from analyzer.python.modules import ROOT


@dataclass(frozen=True, slots=True)
class Command:
    """What a command line tells the preprocessor.

    ``include_dirs``: tree-relative, in the order in which they are searched; folders outside the tree are
    left out. ``spellings``: the architectures that it compiles for.
    """

    defines: tuple[tuple[str, str], ...]
    include_dirs: tuple[str, ...]
    spellings: tuple[Spelling, ...]


_QUOTING = re.compile(r"['\"\\]")
_CODE = re.compile(r"(?:code|compute|sm|arch)[=_](?:\[)?(?:sm_|compute_)?(\d{2,3}[af]?)")


def parse(flags: Iterable[str]) -> Command:
    """Read flags, given one by one or as a whole command line.

    ``-gencode``, ``--generate-code``, ``-arch``, ``-code`` as the CUDA compiler documents them (NVIDIA CUDA
    Compiler Driver, "Options for Steering GPU Code Generation"); ``-I`` is searched before ``-isystem``.
    """
    words: list[str] = []
    for flag in flags:
        words.extend(_words(flag))
    defines: dict[str, str] = {}
    quoted: list[str] = []
    system: list[str] = []
    spellings: dict[Spelling, None] = {}
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        following = words[position] if position < len(words) else ""
        if word in ("-D", "-I", "-isystem", "-gencode", "--generate-code", "-arch", "-code"):
            position += 1
            word = f"{word} {following}"
        if word.startswith("-D"):
            name, _, value = word[2:].strip().partition("=")
            defines[name] = value if "=" in word else "1"
        elif word.startswith("-I"):
            _add_folder(quoted, word[2:].strip())
        elif word.startswith("-isystem"):
            _add_folder(system, word.removeprefix("-isystem").strip())
        elif word.startswith(("-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code")):
            for found in _CODE.findall(word):
                spellings.setdefault(Spelling.parse(found))
    folders = tuple(dict.fromkeys([*quoted, *system]))
    return Command(tuple(sorted(defines.items())), folders, tuple(spellings))


def _words(flag: str) -> list[str]:
    """The words of a command line as a shell splits them."""
    if not _QUOTING.search(flag):
        return flag.split()
    try:
        return shlex.split(flag)
    except ValueError:
        return flag.split()


def _add_folder(folders: list[str], path: str) -> None:
    if path.startswith(ROOT) and HOLE not in path:
        folders.append(path.removeprefix(ROOT).rstrip("/"))
