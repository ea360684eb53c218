"""Device code that scanned Python copies and renders into other files."""

from __future__ import annotations

from textwrap import dedent

import pytest

from analyzer import archs
from analyzer.python.contents import Content
from analyzer.python.device import Host
from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.observe import Observer
from analyzer.python.values import Site, Value

FILES = ("pkg/csrc/run.cu", "pkg/csrc/inst.jinja", "pkg/notes.txt")
HEAD = """
import io, os, shutil
from pathlib import Path
import jinja2
SRC = Path(__file__).parent / "csrc"
OUT = Path("/gen")
def write_if_different(path, text):
    if path.exists():
        with open(path) as f:
            if f.read() == text:
                return
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
"""
RUN = Content("pkg/csrc/run.cu")


def written(body: str) -> dict[str, Content | None]:
    """What files hold after the body of a function was run."""
    program = HEAD + "def go(free):\n" + "\n".join(f"    {line}" for line in dedent(body).splitlines())
    texts = {"pkg/__init__.py": b"", "pkg/a.py": program.encode(), **dict.fromkeys(FILES, b"x")}
    index = ModuleIndex(list(texts), texts.__getitem__, ["torch", "jinja2"])
    m = Machine(Host(archs.find("sm_120"), (13, 0)), index, Observer())
    m.call(m.named("pkg.a.go"), [Value(4)], {}, Site("pkg/a.py", 1, 1, 1))
    return m.written


@pytest.mark.parametrize(
    "body",
    [
        "write_if_different(OUT / 'run.cu', (SRC / 'run.cu').read_text())",
        "with open(SRC / 'run.cu') as f: text = f.read()\nwrite_if_different(OUT / 'run.cu', text)",
        "(OUT / 'run.cu').write_text((SRC / 'run.cu').read_text())",
        "shutil.copy(SRC / 'run.cu', OUT / 'run.cu')",
        "shutil.copyfile(str(SRC / 'run.cu'), os.path.join(str(OUT), 'run.cu'))",
        "with (SRC / 'run.cu').open() as f, io.open('/gen/run.cu', mode='w') as g: g.write(f.read())",
    ],
)
def test_copies(body: str) -> None:
    assert written(body) == {"/gen/run.cu": RUN}


def test_a_template_is_rendered_with_what_is_known() -> None:
    body = """
    with open(SRC / "inst.jinja") as f:
        template = jinja2.Template(f.read())
    for kind in ("half", "float"):
        write_if_different(OUT / f"inst_{kind}.cu", template.render(kind=kind, tile=64))
    write_if_different(OUT / "given.cu", template.render({"kind": "int"}, tile=[1, 2]))
    """
    origin = "pkg/csrc/inst.jinja"
    assert written(body) == {
        "/gen/inst_half.cu": Content(origin, (("kind", "half"), ("tile", 64))),
        "/gen/inst_float.cu": Content(origin, (("kind", "float"), ("tile", 64))),
        "/gen/given.cu": Content(origin, (("kind", "int"), ("tile", [1, 2]))),
    }


def test_so_is_one_that_stands_in_python() -> None:
    body = "(OUT / 'a.cu').write_text(jinja2.Template('int {{ x }};').render(x=1))"
    assert written(body) == {"/gen/a.cu": Content("", (("x", 1),), "int {{ x }};")}


@pytest.mark.parametrize(
    "body",
    [
        "(OUT / 'a.cu').write_text('int x;')",
        "(OUT / 'a.cu').write_text((SRC / 'run.cu').read_text() + 'int x;')",
        "(OUT / 'a.cu').write_text((SRC / 'run.cu').read_text().replace('a', 'b'))",
        "with open(OUT / 'a.cu', 'a') as f: f.write((SRC / 'run.cu').read_text())",
        "shutil.copy('/elsewhere/run.cu', OUT / 'a.cu')",
        "(OUT / 'a.cu').write_text(jinja2.Template((SRC / 'run.cu').read_text()).render(x=os.getpid()))",
        "(OUT / 'a.cu').write_text((SRC / 'run.cu').read_text())\n"
        "(OUT / 'a.cu').write_text((SRC / 'inst.jinja').read_text())",
    ],
)
def test_what_else_is_written_is_not_known(body: str) -> None:
    assert written(body) == {"/gen/a.cu": None}
