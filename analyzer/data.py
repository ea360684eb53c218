"""Where the read-only knowledge of the program lies: ``queries/`` and ``reports/``."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder ``queries`` or ``reports``: inside an installed package, else beside it in a checkout.

    Raises:
        FileNotFoundError: neither place has it; the installation is damaged.
    """
    for base in (_PACKAGE / "_data", _PACKAGE.parent):
        if (base / name).is_dir():
            return base / name
    raise FileNotFoundError(f"smgate's own folder {name!r} is missing; reinstall smgate")


@cache
def table(name: str) -> dict[str, Any]:
    """``queries/NAME.toml`` as a mapping; read once. Callers must not change it."""
    with (folder("queries") / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)
