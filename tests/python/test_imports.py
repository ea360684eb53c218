"""Imports, held against real execution on every capability; and what a tree alone does not tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.python.modules import ModuleIndex
from analyzer.python.values import External, Free, Raised
from tests.oracle.records import machine, outcome
from tests.python.differential import answer, check

FORMS: dict[str, dict[str, str]] = {
    "names from everywhere": {
        "lib/__init__.py": "from .caps import *\nfrom . import inner\n",
        "lib/caps.py": """
            import torch as t
            __all__ = ["major", "is_nine"]
            major, _minor = t.cuda.get_device_capability()
            hidden = 5
            def is_nine(): return major == 9
        """,
        "lib/inner/__init__.py": "from ..caps import hidden as shown\nfrom .deep import depth\n",
        "lib/inner/deep.py": "from ..caps import major\nfrom .. import caps\ndepth = caps.major + major\n",
        "case.py": """
            import lib, lib.inner.deep
            import lib.caps as c
            from lib import is_nine, inner
            from lib.inner import shown
            def ask_star(): return lib.major, lib.is_nine()
            def ask_not_exported(): return hasattr(lib, "hidden")
            def ask_deep(): return lib.inner.deep.depth, inner.depth, shown
            def ask_alias(): return c.is_nine() == is_nine()
            def ask_inside():
                from lib.caps import hidden
                return hidden
            def ask_missing():
                try:
                    from lib.caps import nothing
                except ImportError:
                    return "gone"
                return "there"
            def ask_no_module():
                import lib.absent
            def ask_fallback():
                try:
                    from lib.absent import fast as f
                except ImportError:
                    f = None
                return f
        """,
    },
    "circles": {
        "a.py": """
            import b
            def first(): return b.second() + 1
            BASE = 10
        """,
        "b.py": """
            import torch
            import a
            def second(): return a.BASE + torch.cuda.get_device_capability()[0]
        """,
        "case.py": "import a\ndef ask_circle(): return a.first()\nVALUE_BASE = a.BASE\n",
    },
    "lazy names": {
        "plat/__init__.py": """
            _PROBES = {"is_sm120": "plat.probes:sm120", "is_sm90": "plat.probes:sm90"}
            def __getattr__(name):
                if name == "current":
                    from importlib import import_module
                    return import_module("plat.probes").Platform()
                raise AttributeError(name)
        """,
        "plat/probes.py": """
            import torch
            from importlib import import_module
            from . import _PROBES
            def sm120(): return torch.cuda.get_device_capability() == (12, 0)
            def sm90(): return torch.cuda.get_device_capability()[0] == 9
            class Platform:
                def __getattr__(self, name):
                    target = _PROBES.get(name)
                    if target is None: raise AttributeError(name)
                    module, _, attr = target.partition(":")
                    return getattr(import_module(module), attr)()
        """,
        "case.py": """
            import plat
            from plat import current
            def ask_property(): return plat.current.is_sm120, current.is_sm90
            def ask_none(): return plat.current.is_other
            def ask_no_name(): return plat.elsewhere
        """,
    },
    "module state": {
        "reg.py": """
            KNOWN = {}
            def register(name):
                def add(f):
                    KNOWN[name] = f
                    return f
                return add
        """,
        "users.py": """
            import torch
            from reg import register
            @register("nine")
            def nine(): return torch.cuda.get_device_capability()[0] == 9
            @register("ten")
            def ten(): return torch.cuda.get_device_capability()[0] == 10
        """,
        "case.py": """
            import reg
            from users import nine
            VALUE_NINE = nine()
            def ask_registry(): return [name for name, f in reg.KNOWN.items() if f()]
        """,
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_form(form: str, tmp_path: Path) -> None:
    check(tmp_path, FORMS[form])


def _index(files: dict[str, str], required: list[str] | None = None) -> ModuleIndex:
    return ModuleIndex(files, lambda file: files[file].encode(), required or [])


OPTIONAL = "try:\n    import extra_package\n    VALUE = True\nexcept ImportError:\n    VALUE = False\n"


def test_an_import_outside_the_tree_is_free_unless_required() -> None:
    open_machine = machine(_index({"case.py": OPTIONAL}), "12.0", "13.0")
    found = answer(open_machine, "VALUE")
    assert not isinstance(found, Raised)
    assert {option.data for option in found.data.options} == {True, False}
    told = machine(_index({"case.py": OPTIONAL}, ["extra-package"]), "12.0", "13.0")
    found = answer(told, "VALUE")
    assert not isinstance(found, Raised)
    assert found.data is True


def test_a_shared_library_imports_and_is_not_known() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/_C.abi3.so": "",
        "case.py": "from pkg import _C\nimport pkg._C as c\n",
    }
    m = machine(_index(files), "12.0", "13.0")
    assert m.named("case._C").data == External("pkg._C")
    assert m.index.importable("pkg._C") is True
    assert m.index.importable("pkg._D") is False


def test_a_copy_of_a_known_module_answers_like_the_original() -> None:
    text = """
import pkg.vendor.pynvml as nvml
nvml.nvmlInit()
CAP = nvml.nvmlDeviceGetCudaComputeCapability(nvml.nvmlDeviceGetHandleByIndex(0))
IS = CAP[0] == 12
"""
    files = {
        "pkg/__init__.py": "",
        "pkg/vendor/__init__.py": "",
        "pkg/vendor/pynvml.py": "1/0",
        "case.py": text,
    }
    assert machine(_index(files), "12.1", "13.0").named("case.IS").data is True
    assert machine(_index(files), "9.0", "13.0").named("case.IS").data is False


def test_a_module_that_does_not_parse_leaves_its_names_free() -> None:
    m = machine(
        _index({"bad.py": "def broken(:\n  x = = 1\n", "case.py": "import bad\nX = bad.y\n"}), "12.0", "13.0"
    )
    assert isinstance(outcome(m, lambda: m.named("case.X")), Raised) or isinstance(
        m.named("case.X").data, Free
    )


STORES = '''\
import os
import other

BY_FUNCTION = {}
BY_MODULE = {}
BY_METHOD = {}
AFTER_TEXT = {}
IN_CLASS = {}

if hasattr(os, "fork"):
    BY_MODULE["fork"] = 1
    for name in ("a", "b"):
        BY_MODULE[name] = 2
else:
    BY_MODULE["none"] = 3


def fill():
    if hasattr(os, "fork"):
        BY_FUNCTION["fork"] = 1


class Filler:
    IN_CLASS["of"] = 1

    async def fill(self):
        BY_METHOD.update({"a": 1})


def text():
    long = """
first
"""
    AFTER_TEXT["a"] = long
'''


def test_tables_that_functions_fill() -> None:
    index = ModuleIndex(["m.py"], lambda file: STORES.encode())
    assert index.item_stores == {"BY_FUNCTION", "BY_METHOD", "AFTER_TEXT"}
