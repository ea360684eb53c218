"""Predicates: their decisions are parts of an answer, not gates."""

from functools import lru_cache, partial

import torch


@lru_cache(maxsize=1)
def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10


def is_sm90():
    if not torch.cuda.is_available():
        return False
    major, _ = torch.cuda.get_device_capability()
    if major == 9:
        return True
    return False


def is_sm120():
    major, minor = torch.cuda.get_device_capability()
    return major == 12 and minor == 0


def _major_among(device_majors, floor=(0, 0)):
    release = tuple(map(int, torch.version.cuda.split(".")[:2]))
    if release < floor:
        return False
    return torch.cuda.get_device_capability()[0] in device_majors


is_hopper_family = lru_cache(maxsize=1)(partial(_major_among, device_majors=[9]))
is_blackwell = is_blackwell_family = lru_cache(maxsize=1)(
    partial(
        _major_among,
        device_majors=[10, 12],
        floor=(12, 8),
    )
)


def device_sm():
    major, minor = torch.cuda.get_device_capability()
    return major * 10 + minor


def device_name_of_arch():
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}"
