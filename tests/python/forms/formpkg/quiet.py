"""No gates: answers that are printed, kept, compared with nothing; conditions that only look like one."""

import torch

from .hw import is_sm100

sm_120 = 120
NAMES = ["is_sm100", "sm_90"]


def show():
    print(torch.cuda.get_device_capability())
    return {"sm100": is_sm100(), "capability": torch.cuda.get_device_capability()}


def is_sm100_supported_by_name(text):
    if text in NAMES:
        return sm_120
    return text


def on_a_device(x):
    if torch.cuda.is_available():
        return x.cuda()
    return x


def always(x):
    if torch.cuda.get_device_capability()[0] >= 2:
        return x
    raise RuntimeError("very old")


FOUND = {}


def kept(x):
    major = torch.cuda.get_device_capability()[0]
    if (major, x.dtype) not in FOUND:
        FOUND[major, x.dtype] = x.compile(major)
    return FOUND[major, x.dtype]
