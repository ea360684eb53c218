"""A function that gives a reason instead of raising; the caller falls back."""

import torch


def why_not():
    major = torch.cuda.get_device_capability()[0]
    if major != 9:  # gate: runtime degraded silent | admit 9.0 | instead 'needs Hopper'
        return "needs Hopper"
    return None


def run(x):
    if why_not() is not None:
        return x.slow()
    return x.fast()


KERNELS = {9: None, 12: None}


def why_not_each(arch_major):
    # gate: runtime degraded silent | admit 9.* | instead 'the kernel for consumer Blackwell is not there'
    if arch_major == 9:
        if compiled_for(9) is None:
            return "the kernel for Hopper is not there"
    elif arch_major == 12:  # gate: runtime none | admit 12.*
        if compiled_for(12) is None:
            return "the kernel for consumer Blackwell is not there"
    else:
        return "written for Hopper and consumer Blackwell only"
    return None


def compiled_for(major):
    return KERNELS.get(major)


def run_each(x):
    reason = why_not_each(torch.cuda.get_device_capability()[0])
    return x.fast() if reason is None else x.slow()
