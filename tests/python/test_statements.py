"""Statements, held against real execution on every capability."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.differential import check

FORMS = {
    "branches": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        def ask_chain():
            if major == 9: return "hopper"
            elif major == 10 and minor == 3: return "ultra"
            elif major >= 12: name = "consumer"
            else: name = "other"
            return name + str(minor)
        def ask_early():
            if major < 9: raise RuntimeError(f"sm_{major} is too old")
            return major
        def ask_assert():
            assert major in (9, 10), "no"
            return "ok"
        def ask_match():
            match torch.cuda.get_device_capability():
                case (9, 0): return "h"
                case (10, x): return f"b{x}"
                case (12, 0) | (12, 1): return "c"
                case _: return "none"
        def ask_match_guard():
            match major:
                case 8 if minor == 9: return "ada"
                case 8 | 7: return "old"
                case m if m > 10: return m
            return None
        def ask_match_text():
            match f"sm_{major}{minor}":
                case "sm_120": return 1
                case "sm_90": return 2
        if major >= 10:
            VALUE_FLAG = True
        else:
            VALUE_FLAG = False
    """,
    "loops": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        def ask_for_break():
            for m in (8, 9, 10):
                if m == major: break
            else:
                return "not found"
            return m
        def ask_continue():
            kept = []
            for arch in ["80", "90", "100", "120"]:
                if int(arch) > major * 10 + minor: continue
                kept.append(arch)
            return kept
        def ask_while():
            n, steps = major, 0
            while n > 1:
                n //= 2
                steps += 1
            return steps
        def ask_nested():
            found = None
            for a in range(4):
                for b in range(4):
                    if a * b == minor:
                        found = (a, b)
                        break
                if found: break
            return found
        def ask_while_true():
            n = 0
            while True:
                n += 1
                if n >= major: return n
        def ask_return_in_loop():
            for m in [7, 8, 9]:
                if major <= m: return m
        def ask_dict_loop():
            flags = []
            for m, flag in {9: "-a", 10: "-b", 12: "-c"}.items():
                if major >= m: flags += [flag]
            return flags
        def ask_loop_else():
            for m in range(3):
                pass
            else:
                return m
        def ask_unpack():
            return [a + b for a, (b, c) in [(1, (major, 2))]]
    """,
    "exceptions": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        class TooOld(RuntimeError): pass
        class Other(Exception): pass
        def need(m):
            if major < m: raise TooOld("old")
            return m
        def ask_handled():
            try: return need(9)
            except RuntimeError: return "fallback"
        def ask_not_handled():
            try: return need(10)
            except (ValueError, Other): return "wrong"
        def ask_else_finally():
            log = []
            try: need(9)
            except TooOld as e: log.append("handled")
            else: log.append("fine")
            finally: log.append("end")
            return log
        def ask_nested():
            try:
                try: need(12)
                except KeyError: return "key"
                finally: x = 1
            except Exception: return x + 1
            return x
        def ask_reraise():
            try: need(11)
            except TooOld: raise
            return 1
        def ask_key_error():
            try: return {9: 1}[major]
            except KeyError: return -1
        def ask_state_at_raise():
            x = 1
            try:
                x = 2
                need(9)
                x = 3
            except TooOld: pass
            return x
        def ask_return_finally():
            done = []
            def inner():
                try: return "a"
                finally: done.append(1)
            return inner(), done
        def ask_open_import_error():
            try: import surely_not_there_at_all_xyz.nothing
            except ImportError: return "absent"
            return "present"
        def ask_from():
            try: need(12)
            except TooOld as e:
                raise Other("x") from e
            return 0
        def ask_loop_try():
            out = []
            for m in (8, 9, 10):
                try: out.append(need(m))
                except TooOld: break
            return out
        def ask_assertion():
            try: assert major > 9
            except AssertionError: return "no"
            return "yes"
    """,
    "names": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        _cache = None
        count = 0
        X = 1
        def first(): return X
        VALUE_BEFORE = first()
        X = major
        VALUE_AFTER = first()
        def cached():
            global _cache, count
            if _cache is None:
                _cache = major * 2
                count += 1
            return _cache
        def ask_open_cache():
            return cached() + cached(), count
        def ask_nonlocal():
            n = 0
            def up():
                nonlocal n
                n += major
                return n
            up()
            return up(), n
        def ask_closure():
            fs = []
            for m in (9, 10):
                fs.append(lambda m=m: m == major)
            return [f() for f in fs]
        def ask_late_closure():
            x = 1
            def get(): return x
            a = get()
            x = 2
            return a, get()
        def ask_delete():
            d = {"a": 1, "b": 2}
            del d["a"]
            return d
        def ask_swap():
            a, b = major, minor
            a, b = b, a
            return a, b
        def ask_star():
            head, *tail = [major, 1, 2]
            return head, tail
        def ask_too_few():
            a, b = (major,)
        def ask_augmented():
            x = [1]
            y = x
            x += [2]
            t = (1,)
            t += (major,)
            s = "a"
            s *= 2
            return x, y, t, s
        def ask_stale():
            box = {"v": 1}
            def get(): return box["v"]
            a = get()
            box["v"] = major
            return a, get()
    """,
    "contexts": """
        import torch, contextlib
        major, minor = torch.cuda.get_device_capability()
        class Within:
            def __enter__(self): return major
            def __exit__(self, *args): return False
        def ask_with():
            with Within() as m:
                return m + 1
        def numbers():
            yield 1
            if major >= 10: yield 2
            yield from [3, major]
        def ask_generator(): return list(numbers())
        def ask_next(): return next(n for n in numbers() if n > 1)
        def ask_sum(): return sum(numbers())
    """,
}


@pytest.mark.parametrize("form", FORMS)
def test_form(form: str, tmp_path: Path) -> None:
    check(tmp_path, FORMS[form])
