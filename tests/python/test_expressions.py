"""Expressions, held against real execution on every capability."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.differential import check

FORMS = {
    "comparisons": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        sm = major * 10 + minor
        CAP = torch.cuda.get_device_capability()
        def ask_eq(): return major == 12
        def ask_ne(): return torch.cuda.get_device_capability()[0] != 10
        def ask_ge(): return major >= 10
        def ask_lt(): return not major < 10
        def ask_in(): return major in (10, 11)
        def ask_not_in(): return sm not in [90, 100]
        def ask_both(): return major == 12 and minor == 1
        def ask_chain(): return 90 <= sm < 120
        def ask_tuple_chain(): return (10, 0) > CAP >= (8, 0)
        def ask_tuple_eq(): return CAP == (10, 3)
        def ask_tuple_in(): return CAP in ((10, 0), (10, 3))
        def ask_set_in(): return CAP in {(12, 0), (12, 1)}
        def ask_index(): return CAP[0] >= 9
        def ask_negative_index(): return CAP[-1] == 1
        def ask_slice(): return CAP[:1] == (9,)
        def ask_order_of_mixed(): return (major, "x") < (9, "y")
        def ask_is_none(): return (None if major < 9 else major) is None
        def ask_bad_order(): return major < "9"
        def ask_equal_to_text(): return major == "9"
        VALUE_SM = sm
    """,
    "arithmetic": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        def ask_mix(): return major * 100 + minor * 10
        def ask_floor(): return (major * 10 + minor) // 20
        def ask_mod(): return major % 4
        def ask_power(): return 2 ** minor
        def ask_shift(): return 1 << major
        def ask_mask(): return (major & 8) | minor ^ 1
        def ask_minus(): return -major + ~minor
        def ask_divide(): return major / 2
        def ask_by_zero(): return 10 // minor
        def ask_repeat(): return "x" * (major - 6)
        def ask_bad_sum(): return "sm" + major
        def ask_true_is_one(): return True + (major == 12)
    """,
    "logic": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        def fails(): raise ValueError("evaluated")
        def ask_and_value(): return minor and major
        def ask_or_value(): return minor or "none"
        def ask_short_and(): return major == 9 and fails()
        def ask_short_or(): return major == 9 or fails()
        def ask_not(): return not minor
        def ask_nested(): return (major == 9 or major == 10) and not (minor and major == 10)
        def ask_conditional(): return "big" if major >= 10 else ("nine" if major == 9 else fails())
        def ask_chain_stops(): return 1 > major > fails()
        def ask_walrus(): return (n := major + 1) > 10 and n
        def ask_mixed_types(): return [] or 0 or "" or minor
    """,
    "texts": """
        import torch
        major, minor = torch.cuda.get_device_capability()
        def ask_f(): return f"sm_{major}{minor}"
        def ask_spec(): return f"{major:03d}|{minor!r:>4}|{'a' if major >= 9 else ''}"
        def ask_percent(): return "sm_%d%d" % (major, minor)
        def ask_format(): return "sm_{}{}".format(major, minor)
        def ask_named_format(): return "{a}.{b}".format(a=major, b=minor)
        def ask_join(): return ".".join(str(x) for x in (major, minor))
        def ask_concat(): return "compute_" + str(major) + str(minor)
        def ask_in_list(): return str(major * 10 + minor) in ["120", "121"]
        def ask_prefix(): return f"sm_{major}0".startswith("sm_1")
        def ask_split(): return f"{major}.{minor}".split(".")
        def ask_partition(): return f"{major}.{minor}".partition(".")
        def ask_strip(): return f" {major} ".strip().rjust(4, "0")
        def ask_slice(): return f"sm_{major}{minor}"[3:]
        def ask_replace(): return "archXX".replace("XX", str(major))
        def ask_int(): return int(f"{major}{minor}") + 1
        def ask_bytes(): return f"sm{major}".encode().decode()
        def ask_letters(): return [c for c in str(major)]
        def ask_upper(): return f"sm{major}".upper() == "SM12"
    """,
    "collections": """
        import torch
        cap = torch.cuda.get_device_capability()
        major, minor = cap
        BY_ARCH = {9: "hopper", 10: "blackwell", (12, 0): "consumer"}
        def ask_get(): return BY_ARCH.get(major)
        def ask_get_default(): return BY_ARCH.get(cap, "none")
        def ask_item(): return BY_ARCH[major]
        def ask_in(): return cap in BY_ARCH
        def ask_keys(): return [k for k in BY_ARCH if isinstance(k, int)]
        def ask_items(): return {v: k for k, v in BY_ARCH.items() if k == major}
        def ask_merge(): return {**BY_ARCH, major: "mine"}[9]
        def ask_union(): return {9, 10} | {major}
        def ask_inter(): return len({9, 10, 12} & {major, minor})
        def ask_list(): return [major, *cap, minor]
        def ask_tuple(): return (*cap, 5)[1:]
        def ask_list_sum(): return [1] + [major] * 2
        def ask_index_error(): return [1, 2, 3][major]
        def ask_nested(): return {"a": [major, {"b": minor}]}["a"][1]["b"]
        def ask_filter(): return [a for a in (80, 90, 100, 120) if a <= major * 10]
        def ask_set_comp(): return {x % 3 for x in range(major)}
        def ask_double(): return [(a, b) for a in range(2) for b in range(minor) if a != b]
        def ask_any(): return any(major == m for m in (9, 10))
        def ask_all(): return all(x > 7 for x in cap)
        def ask_dict_comp(): return {f"sm{m}": m == major for m in (9, 12)}[f"sm{9}"]
        def ask_dict_eq(): return {"a": major} == {"a": 9}
        def ask_list_eq(): return [major, minor] == [10, 0]
        def ask_star(): first, *rest = (major, minor, 3); return rest
        def ask_pop():
            d = {9: "a", 10: "b"}
            return d.pop(major, "gone"), sorted(d)
        def ask_setdefault():
            d = {9: 1}
            d.setdefault(major, 2)
            return d[major]
        def ask_update():
            d = {9: 1}
            d.update({major: 5}, extra=minor)
            return d
        def ask_update_in_place():
            d = {9: 1}
            kept = d
            d |= {major: 5}
            return kept, d[9]
        def ask_set_update_in_place():
            s = {9}
            s |= {major, minor}
            return sorted(s)
        def ask_delete():
            d = {9: 1, 10: 2}
            if major in d: del d[major]
            return sorted(d)
        def ask_set_ops():
            s = {9, 10}
            s.add(major); s.discard(9)
            return s
        def ask_list_ops():
            x = [3, 1, 2]
            x.sort(); x.append(major); x.reverse(); x.insert(1, minor)
            last = x.pop()
            return x, last, x.index(major), x.count(2)
        def ask_sort_key(): return sorted([(2, "b"), (1, "c")], key=lambda p: p[1], reverse=major > 9)
        def ask_remove():
            x = [9, 10, 12]
            x.remove(major)
            return x
        def ask_list_store():
            x = [0, 0]
            x[minor % 2] = major
            return x
        def ask_slice_store():
            x = [1, 2, 3]
            x[1:] = [major]
            return x
        def ask_copy_is_apart():
            x = [1]
            y = x.copy(); y.append(major)
            z = list(x); z.append(2)
            return x, y, z
        def ask_alias():
            x = [1]
            y = x
            y.append(major)
            return x
        def ask_aug_alias():
            x = [1]
            y = x
            y += [major]
            return x
        def ask_zip(): return [a + b for a, b in zip(cap, [1, 2])]
        def ask_enumerate(): return [i for i, m in enumerate((8, 9, 10), 1) if m == major]
        def ask_minmax(): return min(cap), max(major, 9), sum(cap), len(cap)
        def ask_fromkeys(): return dict.fromkeys([major, minor], 1)
        def ask_tuple_of(): return tuple(m for m in (9, 10) if m >= major)
    """,
}


@pytest.mark.parametrize("form", FORMS)
def test_form(form: str, tmp_path: Path) -> None:
    check(tmp_path, FORMS[form])
