"""Architectures as strings: equality, suffix lists, names of backends, tables."""

import torch

from .hw import device_name_of_arch


def _matches(wanted):
    major, minor = torch.cuda.get_device_capability()
    return f"{major}{minor}" in wanted


def by_name(x):
    version = device_name_of_arch()
    assert version == "sm_100", "only sm_100 is built"  # gate: runtime raises | admit 10.0 | says only sm_100 is built
    return x


def by_list(x):
    if not _matches(["100", "103"]):  # gate: runtime raises | admit 10.0 10.3 | says wrong device
        raise ValueError("wrong device")
    return x


def module_of(backend):
    if backend in ("100", "103"):  # gate: runtime degraded silent | admit 10.0 10.3 | instead 'generic' | gets 'tensor memory'
        return "tensor memory"
    elif backend == "90":  # gate: runtime degraded silent | admit 9.0 | instead 'generic' | gets 'warp group'
        return "warp group"
    return "generic"


def ask():
    major, minor = torch.cuda.get_device_capability()
    return module_of(f"{major}{minor}")


COLUMNS = {"sm_100": 512, "sm_103": 512}


def columns():
    return COLUMNS[device_name_of_arch()]  # gate: runtime raises | admit 10.0 10.3


def columns_or_none():
    try:
        return COLUMNS[device_name_of_arch()]  # gate: runtime degraded silent | admit 10.0 10.3 | instead 0
    except KeyError:
        return 0
