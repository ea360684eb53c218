"""Whose choices the keys of a table are: those of an option that it serves, not of one with a few alike."""

from __future__ import annotations

from pathlib import Path

from tests.judge.opened import scanned, write

NAMES = ("wide", "narrow", "plain", "large", "small", "odd", "even")
PROGRAM = {
    "kit/__init__.py": "",
    "kit/meta.py": "class Arg:\n    def __init__(self, help='', choices=None): ...\n",
    "kit/fields.py": f"""\
from dataclasses import dataclass
from typing import Annotated, Optional

from .meta import Arg

@dataclass
class Fields:
    engine: Annotated[Optional[str], Arg(help="which", choices={[*NAMES, "further"]})] = None
    cache: Annotated[
        str, Arg(help="where", choices=["wide", "narrow", "plain", "a", "b", "c", "d", "e"])
    ] = "plain"
""",
    "kit/engines.py": """\
import torch

class Wide:
    def run(self, x):
        if torch.cuda.get_device_capability()[0] not in (9, 10):
            raise ValueError("a wide engine needs another chip")
        return x

class Other:
    def run(self, x): return x

"""
    + "ENGINES = {"
    + ", ".join(f"'{name}': {'Wide' if name == 'wide' else 'Other'}" for name in NAMES)
    + "}\n",
}


def test_a_table_serves_the_option_that_shares_most_of_its_keys(tmp_path: Path) -> None:
    cells = {(cell.api, cell.backend): cell for cell in scanned(write(tmp_path, PROGRAM)).matrix}
    assert cells["kit --engine", "wide"].status["sm_120"] == "unsupported"
    assert not any(api == "kit --cache" for api, _ in cells)
