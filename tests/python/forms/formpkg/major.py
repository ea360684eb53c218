"""The major number compared with one number, a bound, a list."""

import torch


def equal(x):
    if torch.cuda.get_device_capability()[0] == 10:  # gate: runtime excluded silent | admit 10.* | gets x.prefetch()
        x.prefetch()
    return x


def unequal(ready):
    if not ready or torch.cuda.get_device_capability()[0] != 10:  # gate: runtime degraded silent | admit 10.* | instead 'triton' | gets 'cutedsl'
        return "triton"
    return "cutedsl"


def at_least(x):
    major, _ = torch.cuda.get_device_capability()
    if major >= 10:  # gate: runtime none | admit 10.* 11.* 12.* | gets x.fused()
        return x.fused()
    return x.plain()


def below(x):
    major, minor = torch.cuda.get_device_capability()
    if major < 10:  # gate: runtime none | admit 10.* 11.* 12.*
        raise NotImplementedError("Blackwell only")
    return x


def among(x):
    major = torch.cuda.get_device_capability()[0]
    if major in (10, 11):  # gate: runtime excluded silent | admit 10.* 11.* | gets x.tensor_memory()
        x.tensor_memory()


def chained(x):
    major, minor = torch.cuda.get_device_capability()
    if major == 9:  # gate: runtime degraded silent | admit 9.0 | instead way = 'ref' | gets way = 'hopper'
        way = "hopper"
    elif major == 10 and minor != 3:  # gate: runtime degraded silent | admit 10.0 | instead way = 'ref' | gets way = 'blackwell'
        way = "blackwell"
    else:
        way = "ref"
    return x.to(way)
