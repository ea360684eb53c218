"""Calls, classes and decorators, held against real execution on every capability."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.differential import check

FORMS = {
    "an abstract method of an object that is given": """
        import torch
        from abc import ABC, abstractmethod
        class Space(ABC):
            @abstractmethod
            def fits(self): pass
        class Wide(Space):
            def fits(self): return True
        class Narrow(Space):
            def fits(self): return torch.cuda.get_device_capability()[0] == 9
        def enter(space: Space):
            if not space.fits(): raise ValueError("too small")
            return torch.cuda.get_device_capability()[0] >= 9
        def ask_wide(): return enter(Wide())
        def ask_narrow(): return enter(Narrow())
    """,
    "partial and cache": """
        import torch
        from functools import partial, lru_cache, cache
        def check(device_capability_majors, cuda_version):
            if not torch.cuda.is_available(): return False
            return (torch.cuda.get_device_capability()[0] in device_capability_majors
                    and tuple(map(int, torch.version.cuda.split(".")[:2])) >= cuda_version)
        is_big = is_blackwell = lru_cache(maxsize=1)(
            partial(check, device_capability_majors=[10, 12], cuda_version=(12, 8)))
        is_nine = partial(check, [9], cuda_version=(12, 3))
        future = cache(partial(check, device_capability_majors=[9, 10], cuda_version=(99, 0)))
        def ask_big(): return is_big()
        def ask_same(): return is_blackwell() and not is_nine()
        def ask_future(): return future()
        VALUE_FLAG = is_nine() or is_big()
    """,
    "arguments": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        def f(a, b=2, *rest, c, d=4, **more): return [a, b, list(rest), c, d, more]
        def ask_all(): return f(major, c=1)
        def ask_rest(): return f(1, major, 3, 4, c=minor, z=9)
        def ask_spread(): return f(*[1, 2, 3], **{"c": major, "d": 5})
        def ask_missing(): return f(1)
        def ask_unexpected(): return (lambda a: a)(b=1)
        def ask_too_many(): return (lambda a: a)(1, 2)
        def only(a, /, *, b): return a + b
        def ask_only(): return only(major, b=1)
        def ask_keyword_for_positional(): return only(a=1, b=1)
        def default(x, seen=[]):
            seen.append(x)
            return seen
        def ask_shared_default():
            default(1)
            return list(default(major))
        def rec(n): return n if n <= 1 else rec(n // 2)
        def ask_open_recursion(): return rec(major)
        def ask_two_levels(): return helper()
        def helper(): return deeper() and minor == 0
        def deeper(): return major > 9
    """,
    "facts behind slots": """
        import torch
        def is_new(): return torch.cuda.get_device_capability()[0] >= 10
        probes = {"is_new": is_new}
        class Facts:
            __slots__ = ("_over",)
            def __init__(self): object.__setattr__(self, "_over", {"is_old": False})
            def __getattr__(self, name):
                over = object.__getattribute__(self, "_over")
                if name in over: return over[name]
                return probes[name]() if name in probes else None
            def __setattr__(self, name, value): raise AttributeError(name)
        facts = Facts()
        def ask_probe(): return facts.is_new
        def ask_override(): return facts.is_old
        def ask_absent(): return facts.other
    """,
    "decorators": """
        import torch, functools
        major, minor = torch.cuda.get_device_capability()
        def supported(majors):
            def decorate(f):
                f.majors = set(majors)
                f.is_supported = lambda cc: cc // 10 in f.majors
                return f
            return decorate
        def require(checks):
            def decorate(f):
                @functools.wraps(f)
                def wrapper(*args, **kwargs):
                    if not any(c.is_supported(major * 10 + minor) for c in checks.values()):
                        raise RuntimeError("unsupported")
                    return f(*args, **kwargs)
                wrapper.backends = list(checks)
                return wrapper
            return decorate
        @supported([9, 10])
        def check_a(): return True
        @supported([12])
        def check_b(): return True
        @require({"a": check_a, "b": check_b})
        def run(x, *, y=1): return x + y
        def ask_run(): return run(2, y=3)
        def ask_backends(): return run.backends
        def ask_supported(): return check_b.is_supported(120), sorted(check_a.majors)
        def plain(f): return f
        @plain
        @functools.lru_cache(None)
        def twice(x): return x * 2
        def ask_twice(): return twice(major)
        registry = {}
        def register(name):
            def add(f):
                registry[name] = f
                return f
            return add
        @register("nine")
        def nine(): return major == 9
        @register("ten")
        def ten(): return major == 10
        def ask_registry(): return [n for n, f in registry.items() if f()]
    """,
    "classes": """
        import torch
        from typing import NamedTuple, Optional
        from dataclasses import dataclass, field
        from enum import Enum, IntEnum, auto
        class Capability(NamedTuple):
            major: int
            minor: int = 0
            def as_int(self): return self.major * 10 + self.minor
        class Kind(Enum):
            OLD = "old"
            NEW = "new"
            def is_new(self): return self == Kind.NEW
        class Level(IntEnum):
            LOW = auto()
            HIGH = auto()
        @dataclass
        class Config:
            arch: int
            flags: list = field(default_factory=list)
            name: str = "x"
            def __post_init__(self): self.double = self.arch * 2
        class Platform:
            required = (10, 0)
            _seen = 0
            def __init__(self, device=0):
                self.major = torch.cuda.get_device_capability(device)[0]
                self.use_state = self.major >= 10
            @classmethod
            def capability(cls): return Capability(*torch.cuda.get_device_capability())
            @staticmethod
            def limit(): return 100
            @property
            def is_new(self): return self.major > 9
            @classmethod
            def meets(cls): return cls.capability() >= cls.required
            def choose(self): return "a" if self.use_state else self.fallback()
            def fallback(self): return "base"
        class Special(Platform):
            required = (9, 0)
            def __init__(self):
                super().__init__()
                self.extra = self.major + 1
            def fallback(self): return "special " + super().fallback()
            @classmethod
            def capability(cls):
                found = super().capability()
                return Capability(major=found.major, minor=9)
            def __getattr__(self, name):
                if name.startswith("is_sm"): return self.major * 10 == int(name[5:])
                raise AttributeError(name)
        def ask_cap(): return Platform.capability().as_int()
        def ask_cap_index(): return Platform.capability()[0] >= 9
        def ask_cap_compare(): return Platform.capability() >= (9, 0)
        def ask_cap_unpack():
            a, b = Platform.capability()
            return a * b
        def ask_property(): return Platform().is_new
        def ask_state(): return Platform().choose(), Special().choose()
        def ask_inherit(): return Special().extra, Special.limit()
        def ask_class_method(): return Platform.meets(), Special.meets(), Special.capability().minor
        def ask_hook(): return Special().is_sm120, Special().is_sm90
        def ask_hook_fails(): return Special().other
        def ask_missing(): return Platform().other
        def ask_enum(): return (Kind.NEW if Platform().is_new else Kind.OLD).is_new()
        def ask_enum_value(): return Kind("old").name, Kind["NEW"].value, Level.HIGH > Level.LOW
        def ask_enum_list(): return [k.value for k in Kind]
        def ask_enum_dict(): return {Kind.OLD: 1, Kind.NEW: 2}[Kind("new" if Platform().is_new else "old")]
        def ask_dataclass():
            c = Config(Platform().major, name="y")
            c.flags.append("f")
            return c.arch, c.flags, c.name, c.double, Config(1).flags
        def ask_instance(): return isinstance(Special(), Platform), isinstance(3, (str, int))
        def ask_class_store():
            Platform._seen = Platform().major
            return Special._seen
        def ask_getattr(): return getattr(Platform(), "missing", "no"), hasattr(Platform(), "major")
        def ask_type_name(): return type(Platform()).__name__
        class Op:
            def __init__(self, v): self.v = v
            def __eq__(self, o): return self.v == o.v
            def __add__(self, o): return Op(self.v + o.v)
            def __getitem__(self, i): return self.v * i
            def __contains__(self, x): return x == self.v
            def __call__(self, x): return self.v - x
            def __bool__(self): return self.v > 9
            def __len__(self): return self.v
        def ask_ops():
            p = Op(Platform().major)
            return (p + Op(1)).v, p[2], 9 in p, p(1), bool(p), len(p), p == Op(9)
    """,
    "state": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        class Builder:
            def __init__(self): self.flags = []; self.arch = None
            def add(self, flag): self.flags.append(flag); return self
            def set(self):
                if major >= 9: self.arch = f"{major}{minor}a"
                else: self.arch = str(major)
                return self.arch
        def ask_chain(): return Builder().add("a").add(str(major)).flags
        def ask_set():
            b = Builder()
            before = b.arch
            b.set()
            return before, b.arch
        def ask_get_set_get():
            b = Builder()
            def get(): return b.arch
            first = get()
            b.arch = major
            return first, get()
        class Counter:
            total = 0
            def up(self): self.total += 1; return self.total
        def ask_counter():
            c = Counter()
            c.up()
            return c.up(), Counter.total
        class Lazy:
            _value = None
            @property
            def value(self):
                if self._value is None: self._value = major
                return self._value
        def ask_lazy():
            x = Lazy()
            return x.value + x.value, x._value
    """,
}


@pytest.mark.parametrize("form", FORMS)
def test_form(form: str, tmp_path: Path) -> None:
    check(tmp_path, FORMS[form])
