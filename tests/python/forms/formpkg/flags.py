"""Answers kept in names and attributes: a module's flag, a local flag, an attribute."""

import torch

from .hw import is_sm90, is_sm100

_is_hopper = is_sm90()
_has_tma_multicast = False
if is_sm100():
    _has_tma_multicast = True

CAPABILITY = torch.cuda.get_device_capability()


def by_module_flag(x, batch):
    return (_is_hopper or _has_tma_multicast) and batch < 128  # gate: runtime excluded silent | admit 9.0 10.*


def by_local_flag(x):
    is_supported = is_sm100()
    if is_supported and x.ok():  # gate: runtime degraded silent | admit 10.* | instead 'a' | gets 'b'
        return "b"
    return "a"


def by_constant(x):
    if CAPABILITY[0] >= 9:  # gate: runtime none | admit 9.0 10.* 11.* 12.* | gets num_stages = 4
        num_stages = 4
    else:
        num_stages = 2
    return x.run(num_stages)


class Runner:
    def __init__(self):
        self.use_pool = torch.cuda.get_device_capability()[0] == 9

    def decode(self, x):
        if self.use_pool:  # gate: runtime raises | admit 9.0 | says no pool on this device
            return x.pooled()
        raise NotImplementedError("no pool on this device")


def math_flags():
    if torch.cuda.get_device_capability()[0] >= 10:  # gate: runtime excluded silent | admit 7.* 8.* 9.*
        return []
    return ["--use_fast_math"]
