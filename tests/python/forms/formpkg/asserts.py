"""Checks by assert, and checks that only some circumstances trip."""

import torch

from .hw import is_sm90, is_sm100, is_sm120


def cutlass(x):
    assert is_sm100() or is_sm90()  # gate: runtime raises | admit 9.0 10.*
    return x


def chunked(x, chunked):
    if chunked and is_sm120():  # gate: runtime raises | admit 7.5 8.* 9.0 10.* 11.0 12.1 | says not with chunks here
        raise ValueError("not with chunks here")
    return x


def optional(x, use_tma):
    assert not use_tma or torch.cuda.get_device_capability()[0] in (9, 10)  # gate: runtime raises | admit 9.0 10.*
    return x


def _expect(x, majors):
    major = torch.cuda.get_device_capability()[0]
    if major not in majors:
        raise ValueError(f"major should be among {majors}, not {major}")


def by_argument(x):
    _expect(x, [9])  # gate: runtime raises | admit 9.0 | says major should be among [9], not 12
    return x


def _give_up(what):
    raise RuntimeError(f"{what} is not there")


def by_helper(x):
    if is_sm100():  # gate: runtime raises | admit 10.* | says tcgen05 is not there
        return x
    else:
        _give_up("tcgen05")


def kept_after_a_check(x, cache):
    major = torch.cuda.get_device_capability()[0]
    assert major in (9, 10), "9 or 10"  # gate: runtime raises | admit 9.0 10.* | says 9 or 10
    if (major, x.dtype) not in cache:
        cache[major, x.dtype] = x.compile(major)
    return cache[major, x.dtype]


def collected_refusals():
    refused = []
    major, minor = torch.cuda.get_device_capability()
    if major == 9:  # gate: runtime none | admit 7.5 8.* 10.* 11.0 12.*
        refused.append(f"{major}.{minor} is too old")
    elif major not in (10, 8):  # gate: runtime raises | admit 8.* 10.* | says only some are served
        refused.append(f"{major}.{minor}")
    if refused:
        raise ValueError("only some are served")
