"""Built-in functions and the standard library, held against real execution on every capability."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.python.modules import ModuleIndex
from analyzer.python.values import Free, Raised, Unknown, plain
from tests.oracle.records import machine
from tests.python.differential import answer, check

PROGRAM = """
    import copy, functools, itertools, math, operator, os, re, shlex, types
    from importlib.util import find_spec
    from pathlib import Path
    import torch
    major, minor = torch.cuda.get_device_capability()
    def ask_env(): return os.environ.get("SMG_ARCH", "none"), os.getenv("SMG_UNSET"), "SMG_ARCH" in os.environ
    def ask_env_item(): return os.environ["SMG_UNSET"]
    def ask_env_list(): return [tuple(a.split(".")) for a in os.environ["SMG_ARCH"].split(" ")]
    def ask_env_flag(): return os.environ.get("SMG_FLAG", "0").lower() in ("1", "true")
    def ask_env_set():
        os.environ["SMG_NEW"] = f"{major}.{minor}"
        try:
            return os.environ["SMG_NEW"], os.getenv("SMG_NEW", "none"), "SMG_NEW" in os.environ
        finally:
            del os.environ["SMG_NEW"]
    def ask_env_gone(): return os.getenv("SMG_NEW", "none"), "SMG_NEW" in os.environ
    class Args(list[str]):
        def __str__(self): return ", ".join(self)
    def ask_derived():
        args = Args(str(x) for x in (major, 2))
        return f"X<{args}>", str(args), [*args], "_".join(args)
    def ask_spec(): return find_spec("case").name
    def ask_regex():
        found = re.match(r"(\\d+)\\.(\\d+)([af]?)", f"{major}.{minor}a")
        return found.group(1), found.groups(), found is not None
    def ask_regex_none(): return re.search("x", str(major)) is None
    def ask_find_all(): return re.findall(r"release (\\d+\\.\\d+),", "tools, release 13.0, V13")
    def ask_path(): return (Path("a") / "b" / f"{major}.cu").name, Path("y.cu").stem, str(Path("a/b").parent)
    def ask_join(): return os.path.join("a", f"sm_{major}"), os.path.basename("b.cu"), os.path.splitext("x")
    def ask_cuda(): return tuple(int(x) for x in torch.version.cuda.split("."))
    def ask_product(): return list(itertools.product([9, 10], "ab"))[major - 7:]
    def ask_chain(): return list(itertools.chain([1], (major,)))
    def ask_math(): return math.ceil(major / 4), math.log2(8), round(major / 3, 2)
    def ask_int(): return int("12") + int(12.7), float("1.5"), bool(minor), abs(-major), divmod(major, 4)
    def ask_bad_int(): return int("12a")
    def ask_hex(): return hex(major), bin(3), ord("a"), chr(97)
    def ask_map(): return list(map(int, "1 2 3".split())), list(filter(lambda n: n > 9, [9, 10, major]))
    def ask_copies():
        a = {"x": [major]}
        b, c = copy.copy(a), copy.deepcopy(a)
        a["x"].append(1)
        a["y"] = 2
        return b, c
    def ask_space(): return types.SimpleNamespace(a=major).a
    def ask_reduce(): return functools.partial(operator.add, major)(1)
    def ask_find_spec(): return find_spec("surely_not_here_xyz") is None if False else True
    def ask_is(): return isinstance(major, int), isinstance("x", (int, str)), callable(len)
    def ask_next(): return next(iter([major, 1])), next((x for x in [1] if x > 5), None)
    def ask_stop(): return next(iter([]))
    def ask_split(): return shlex.split(f"-gencode arch=compute_{major}{minor}")
    def ask_repr(): return repr("a"), str((major, "b")), f"{[major]}", str(None)
    def ask_sorted(): return sorted({"b": 1, "a": 2}), max([major, 3], key=lambda n: -n), min("ab", "b")
    def ask_dict(): return dict(a=1, b=major), dict([("k", minor)]), list(dict(a=1).items())
    def ask_reversed(): return list(reversed([1, major])), list(range(major, 0, -3))
    def ask_getattr(): return getattr(torch.version, "hip", "x"), re.match("(a)", "ab")[1]
"""


def test_library(tmp_path: Path) -> None:
    check(tmp_path, PROGRAM, environment={"SMG_ARCH": "9.0a 12.0f", "SMG_FLAG": "True"})


@pytest.mark.parametrize(
    "ask",
    [
        'subprocess.check_output([os.path.join("/x", "bin/nvcc"), "--version"], text=True)',
        'subprocess.run(["nvcc", "-V"], capture_output=True, text=True).stdout',
        'subprocess.check_output("nvcc --version", shell=True).decode("utf-8")',
    ],
)
def test_the_toolkit_is_asked_by_a_command(ask: str) -> None:
    text = f"""
import os, re, subprocess
from packaging.version import Version
VERSION = Version(re.findall(r"release (\\d+\\.\\d+),", {ask})[0])
NEW = VERSION >= Version("12.9")
"""
    index = ModuleIndex(["case.py"], lambda _: text.encode())
    for cuda, new in (("12.8", False), ("13.0", True)):
        m = machine(index, "12.0", cuda)
        found = answer(m, "NEW")
        assert not isinstance(found, Raised)
        assert plain(found) is new
        assert found.source is not None
        assert not found.tainted, "the toolkit is no device answer"


@pytest.mark.parametrize(
    ("ask", "known"),
    [
        ("isinstance(torch.float16, bool)", False),
        ("isinstance(torch.float16, (int, float))", False),
        ("isinstance(torch.bfloat16, torch.dtype)", True),
        ("isinstance(torch.float16, torch.device)", False),
    ],
)
def test_the_class_of_a_constant_outside_the_tree_is_known_where_it_is_described(
    ask: str, known: bool
) -> None:
    text = f"import torch\nASK = {ask}\n"
    found = answer(machine(ModuleIndex(["case.py"], lambda _: text.encode()), "12.0", "13.0"), "ASK")
    assert not isinstance(found, Raised)
    assert found.data is known


def test_what_one_function_puts_into_the_environment_no_other_one_sees() -> None:
    """They are run on their own: which of them ran before is not known."""
    text = """
import os
def put(): os.environ["SMG_NEW"] = "1"
def ask(): return os.getenv("SMG_NEW", "none")
"""
    m = machine(ModuleIndex(["case.py"], lambda _: text.encode()), "12.0", "13.0")
    assert not isinstance(answer(m, "put"), Raised)
    found = answer(m, "ask")
    assert not isinstance(found, Raised)
    assert found.data == "none"


@pytest.mark.parametrize(("name", "known"), [("case", "/<root>/case.py"), ("json", None)])
def test_where_a_module_of_the_tree_lies_is_known(name: str, known: str | None) -> None:
    text = f"import importlib.util\ndef ask(): return importlib.util.find_spec('{name}').origin\n"
    found = answer(machine(ModuleIndex(["case.py"], lambda _: text.encode()), "12.0", "13.0"), "ask")
    assert not isinstance(found, Raised)
    assert isinstance(found.data, Free) if known is None else found.data == known


@pytest.mark.parametrize("base", ["outside.Base", "msgspec.Struct"])
def test_objects_that_were_made_of_other_values_are_told_apart(base: str) -> None:
    """What was found out of one by a call says nothing of the other, though both were made elsewhere."""
    text = f"""
import msgspec, outside
class Window({base}):
    least: int = 0
    most: int = 100
    def holds(self, number):
        if number > self.most:
            return False
        return True
def wide(): return Window(least=9).holds(12)
def ask():
    return [Window(least=9, most=most).holds(12) for most in (12, 9, 13)]
"""
    m = machine(ModuleIndex(["case.py"], lambda _: text.encode()), "12.0", "13.0")
    assert not isinstance(answer(m, "wide"), Raised)
    found = answer(m, "ask")
    assert not isinstance(found, Raised)
    assert plain(found) == [True, False, True]


def test_a_set_of_objects_is_known_but_not_which_of_them_are_held_equal() -> None:
    text = """
class Item:
    def __init__(self, n): self.n = n
A, B = frozenset({Item(1)}), frozenset({Item(2)})
def ask(): return sorted(item.n for item in A | B), any(item.n == 2 for item in A.union(B)), len(A)
def ask_len(): return len(A | B)
def ask_common(): return bool(A & B)
def ask_apart(): return A.isdisjoint(B)
"""
    m = machine(ModuleIndex(["case.py"], lambda _: text.encode()), "12.0", "13.0")
    found = answer(m, "ask")
    assert not isinstance(found, Raised)
    assert plain(found) == ([1, 2], True, 1)
    for name in ("ask_len", "ask_common", "ask_apart"):
        other = answer(m, name)
        assert not isinstance(other, Raised)
        assert isinstance(other.data, Free)


def test_an_unknown_command_is_free() -> None:
    text = "import subprocess\ndef ask(): return subprocess.run(['rocminfo']).returncode == 0\n"
    m = machine(ModuleIndex(["case.py"], lambda _: text.encode()), "12.0", "13.0")
    found = answer(m, "ask")
    assert not isinstance(found, Raised)
    with pytest.raises(ValueError, match="constant"):
        plain(found)


def test_a_tuple_that_is_not_known_as_a_whole_is_not_searched() -> None:
    text = """
import subprocess, torch
size = subprocess.run(["rocminfo"]).returncode
def ask(): return (torch.cuda.get_device_capability()[0], size).index(9)
def ask_other(): return (1, size).index(9)
"""
    m = machine(ModuleIndex(["case.py"], lambda _: text.encode()), "12.0", "13.0")
    found, other = answer(m, "ask"), answer(m, "ask_other")
    assert not isinstance(found, Raised)
    assert isinstance(found.data, Unknown), "where the answer of the device stands depends on the other"
    assert not isinstance(other, Raised)
    assert isinstance(other.data, Free)


def test_a_name_space_that_a_module_holds_is_plain_data() -> None:
    text = "import types, torch\nHELD = types.SimpleNamespace(major=torch.cuda.get_device_capability()[0])\n"
    text += "def ask(): return HELD.major\n"
    found = answer(machine(ModuleIndex(["case.py"], lambda _: text.encode()), "12.0", "13.0"), "ask")
    assert not isinstance(found, Raised)
    assert found.data == 12
