"""Entry points: public names through re-exports, options with a field of their own."""

from __future__ import annotations

from analyzer.graph.entries import apis, declared_options, public_names
from analyzer.python.modules import ModuleIndex
from analyzer.python.values import Site

FILES = {
    "pkg/__init__.py": b"from .sub import run as run\n"
    b"from .sub.work import Wrapper\nfrom ._hidden import secret\n",
    "pkg/sub/__init__.py": b"from .work import run\n",
    "pkg/sub/work.py": b"def run(): ...\n\n"
    b"class Wrapper:\n    def plan(self): ...\n    def _inner(self): ...\n",
    "pkg/_hidden/__init__.py": b"from .deep import other\n",
    "pkg/_hidden/deep.py": b"def secret(): ...\n",
    "pkg/args.py": b"class Args:\n    use_fast: bool = False\n\n"
    b'def add(p):\n    p.add_argument("--use-fast")\n    p.add_argument("--elsewhere")\n',
}


def index() -> ModuleIndex:
    return ModuleIndex(FILES, FILES.__getitem__)


def test_the_shortest_public_name_wins() -> None:
    public = public_names(index())
    assert public["pkg.sub.work.run"] == ("pkg.run", "pkg.sub.run")
    assert public["pkg.sub.work.Wrapper"] == ("pkg.Wrapper",)
    assert "pkg._hidden.deep.other" not in public


def test_methods_of_public_classes_are_entries() -> None:
    site = Site("pkg/sub/work.py", 4, 4, 1)
    functions = dict.fromkeys(
        ["pkg.sub.work.Wrapper.plan", "pkg.sub.work.Wrapper._inner", "pkg.sub.work.run", "pkg.other"], site
    )
    names = {entry.name for entry in apis(functions, public_names(index())).values()}
    assert names == {"pkg.Wrapper.plan", "pkg.run"}


def test_an_option_needs_a_field() -> None:
    words = {"pkg/args.py": frozenset({"use_fast", "add_argument"})}
    (option,) = declared_options(index(), words)
    assert not option.common
    assert (option.name, option.attribute, option.line) == ("pkg --use-fast", "use_fast", 5)


def test_what_a_package_takes_over_whole_is_public() -> None:
    files = {
        "pkg/__init__.py": b"from .sub import *\nfrom ._other import *\n",
        "pkg/sub/__init__.py": b"from ._core import *\n",
        "pkg/sub/_core.py": b"@flashinfer_api(trace=1)\ndef run(): ...\n@flashinfer_api\ndef _inner(): ...\n"
        b"def helper(): ...\nclass Wrapper:\n    @flashinfer_api\n    def plan(self): ...\n",
        "pkg/_other.py": b'__all__ = ["_odd"]\ndef _odd(): ...\ndef even(): ...\n',
    }
    public = public_names(ModuleIndex(files, files.__getitem__))
    assert public == {
        "pkg.sub._core.run": ("pkg.sub.run",),
        "pkg.sub._core.Wrapper": ("pkg.sub.Wrapper",),
        "pkg._other._odd": ("pkg._odd",),
    }


def test_what_offers_nothing_is_not_parsed() -> None:
    files = {"pkg/__init__.py": b"from ._core import *\n", "pkg/_core.py": b"def helper(): ...\n"}
    told = ModuleIndex(files, files.__getitem__)
    words = {file: frozenset({"def", "helper", "from", "import"}) for file in files}
    assert public_names(told, words) == {}
    assert "parsed" not in told.sources["pkg._core"].__dict__


ANNOTATED = b"""
class Args:
    way: A[Optional[str], Arg(help="which", choices=WAYS)] = None
    use_fast: A[bool, "be fast"] = False
    hidden: A[bool, Arg(help="not for users", no_cli=True)] = False
    size: A[int, Arg(help="how large", cli_name="--other-size")] = 1
    plain: bool = False
    kind: Annotated[str, Unrelated()] = ""
"""


def test_an_option_may_be_declared_by_an_annotation() -> None:
    told = ModuleIndex(["pkg/args.py"], {"pkg/args.py": ANNOTATED}.__getitem__)
    found = declared_options(told, {"pkg/args.py": frozenset({"Arg"})})
    assert [(one.name, one.attribute, one.line) for one in found] == [
        ("pkg --use-fast", "use_fast", 4),
        ("pkg --way", "way", 3),
    ]
    assert declared_options(told, {"pkg/args.py": frozenset({"Annotated"})}) == ()


def test_a_name_that_is_everywhere_tells_nothing() -> None:
    words = {f"f{number}.py": frozenset({"use_fast"}) for number in range(100)}
    (option,) = declared_options(index(), {**words, "pkg/args.py": frozenset({"add_argument"})})
    assert option.common
