"""Which lines survive, asked of gcc under nvcc's own macros, for every source of a released wheel.

Run as ``make oracle RELEASE=flashinfer-python==0.6.4``. Each unit is preprocessed by the command that
``nvcc --dryrun`` shows (with ``-fdirectives-only``: conditions are evaluated in full, macros in the text are
not expanded), and every line of code that gcc prints is held against the analyzer's masks, and the other way
round. Headers that are in neither the wheel nor the toolkit are taken to be empty on both sides.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.archs import Spelling
from analyzer.cuda import passes
from analyzer.cuda.preprocess import Memory, Unit, walk
from analyzer.cuda.program import Reader
from tests.cases.measure import tree
from tests.cases.records import Release
from tests.cuda.tree import Disk
from tests.oracle.assembler import ROOT
from tests.oracle.test_branches import COMMON, INCLUDE_DIRS

SPELLINGS = ("120a", "90a", "100a", "80")
SOURCES = "flashinfer/data/csrc"
_MARKER = re.compile(r'\s*# (\d+) "((?:[^"\\]|\\.)*)"')
_MISSING = re.compile(r"fatal error: ([^:\s]+): No such file")


def nvcc() -> str | None:
    """The compiler: of the toolkit in ``.cache``, else of the machine."""
    own = ROOT / ".cache" / "cuda" / "nvidia" / "cu13" / "bin" / "nvcc"
    return str(own) if own.exists() else shutil.which("nvcc")


@dataclass
class Asked:
    """What gcc was asked for one release, and the headers that it missed."""

    root: Path
    folder: Path
    empty: set[str] = field(default_factory=set)

    @property
    def stubs(self) -> Path:
        """A folder with the missing headers, all empty."""
        return self.folder / "stubs"

    def command(self, spelling: Spelling) -> list[str]:
        """The preprocessor's command of the device pass, as nvcc shows it, without its input and output."""
        source = self.folder / "probe.cu"
        source.write_text("\n")
        gencode = f"arch=compute_{spelling.target[3:]},code={spelling.target}"
        flags = [flag for flag in COMMON if flag.startswith("-")]
        shown = subprocess.run(
            [str(nvcc()), "--dryrun", "-std=c++17", *flags, "-gencode", gencode, "-c", str(source)],
            capture_output=True,
            text=True,
            check=True,
            cwd=self.folder,
        )
        (line,) = [
            row[3:] for row in shown.stderr.splitlines() if " -E " in row and "-D__CUDA_ARCH__=" in row
        ]
        words = shlex.split(line)
        return [*words[: words.index(str(source))], "-fdirectives-only", "-w"]

    def lines(self, source: str, command: Sequence[str]) -> dict[str, set[int]]:
        """The lines that gcc prints, by file of the release."""
        return dict(self._printed(self.preprocess(source, command).decode("latin-1")))

    def preprocess(self, source: str, command: Sequence[str]) -> bytes:
        """What gcc makes of a source; headers that it misses are empty from then on."""
        folders = [f"-I{self.stubs if name == 'stubs' else self.root / name}" for name in INCLUDE_DIRS]
        while True:
            ran = subprocess.run(
                [*command, *folders, str(self.root / source)], capture_output=True, cwd=self.folder
            )
            missing = _MISSING.search(ran.stderr.decode("latin-1"))
            if missing is None:
                return ran.stdout
            stub = self.stubs / missing[1]
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.touch()
            self.empty.add(missing[1])

    def _printed(self, text: str) -> Iterator[tuple[str, set[int]]]:
        found: dict[str, set[int]] = {}
        here: set[int] | None = None
        line = 0
        prefix = f"{self.root}/"
        for row in text.split("\n"):
            if "# " in row and (marker := _MARKER.match(row)):
                line = int(marker[1])
                path = os.path.normpath(marker[2])
                here = found.setdefault(path[len(prefix) :], set()) if path.startswith(prefix) else None
                continue
            if here is not None and row and not row.isspace():
                here.add(line)
            line += 1
        yield from found.items()


def compare(unit: Unit, bit: int, printed: dict[str, set[int]], reader: Reader) -> tuple[int, list[str]]:
    """How many lines agree, and those that do not.

    Compared are lines of code alone: directives are printed or not by rules of their own, comments by none.
    """
    agreed = 0
    wrong: list[str] = []
    for path, activity in unit.files.items():
        text = reader.source(path).active().code
        shown = printed.get(path, set())
        for number, row in enumerate(text.split("\n"), 1):
            if not row or row.isspace():
                continue
            ours = bool(activity.active(number) & bit)
            if activity.unknown(number) & bit or ours != (number in shown):
                wrong.append(
                    f"{path}:{number}: gcc {'keeps' if number in shown else 'drops'} {row.strip()[:60]}"
                )
            else:
                agreed += 1
    return agreed, wrong


def main() -> None:
    """Print, for each spelling, how many lines agree; the first that do not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", type=lambda text: Release(*text.split("==")))
    parser.add_argument("--spellings", default=",".join(SPELLINGS))
    parser.add_argument("--sources", default="", help="only sources whose path holds this")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if nvcc() is None or shutil.which("gcc") is None:
        sys.exit("needs nvcc (make toolkit) and gcc")
    root = tree(options.release).resolve()
    spelled = [Spelling.parse(text) for text in options.spellings.split(",")]
    sources = [path.relative_to(root).as_posix() for path in sorted((root / SOURCES).rglob("*.cu"))]
    sources = [path for path in sources if options.sources in path]
    total = failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        asked = Asked(root, Path(folder))
        asked.stubs.mkdir()
        commands = [asked.command(one) for one in spelled]
        memory = Memory()
        reader = Reader(lambda path: (root / path).read_bytes() if (root / path).is_file() else b"")
        for source in sources:
            answers = list(pool.map(lambda command, path=source: asked.lines(path, command), commands))
            known = Disk(root, (f"stubs/{header}" for header in asked.empty))
            flags = (*COMMON, "-std=c++17")
            unit = walk(
                source,
                known,
                INCLUDE_DIRS,
                [passes.device_pass(one, flags) for one in spelled],
                memory=Memory() if asked.empty else memory,
            )
            for index, printed in enumerate(answers):
                agreed, wrong = compare(unit, 1 << index, printed, reader)
                total += agreed
                failed += len(wrong)
                if wrong:
                    print(f"{source} {spelled[index].target}: {len(wrong)} lines differ: {wrong[:3]}")
            print(f"\r{source}: {total} lines agree, {failed} do not", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{options.release}: {len(sources)} units, {total} lines agree with gcc, {failed} do not")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
