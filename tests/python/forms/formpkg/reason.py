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
