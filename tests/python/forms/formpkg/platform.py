"""Platform classes: properties, class methods, a property served through a table of dotted names."""

import importlib

import torch

_PROBES = {"has_tensor_memory": "formpkg.hw.is_sm100", "device_sm": "formpkg.hw.device_sm"}


class Platform:
    def __getattr__(self, name):
        if name not in _PROBES:
            raise AttributeError(name)
        module, _, function = _PROBES[name].rpartition(".")
        return getattr(importlib.import_module(module), function)()


_platform = Platform()


def get_platform():
    return _platform


class CudaPlatform:
    required_capability = (10, 0)  # gate: runtime raises | admit 10.0 | says this backend wants 10.0

    @classmethod
    def is_blackwell(cls):
        return torch.cuda.get_device_capability()[0] == 10

    @classmethod
    def backend(cls):
        if cls.is_blackwell():  # gate: runtime degraded silent | admit 10.* | instead 'sdpa' | gets 'fa4'
            return "fa4"
        return "sdpa"

    @classmethod
    def check(cls):
        if torch.cuda.get_device_capability() != cls.required_capability:  # gate: runtime raises | admit 10.0 | says this backend wants 10.0
            raise ValueError("this backend wants 10.0")


def attention():
    return "fa4" if get_platform().has_tensor_memory else "triton"  # gate: runtime degraded silent | admit 10.* | instead 'triton' | gets 'fa4'
