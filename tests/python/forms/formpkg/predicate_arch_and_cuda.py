"""A predicate that joins architecture and toolkit."""

import torch

from .hw import is_blackwell


def _new_enough(text):
    return tuple(int(part) for part in torch.version.cuda.split(".")) >= text


def is_spark():
    major, minor = torch.cuda.get_device_capability()
    return major == 12 and minor == 1 and _new_enough((12, 9))


def layout(x):
    if is_spark():  # gate: runtime none | admit 12.1 | gets x = x.contiguous()
        x = x.contiguous()
    return x


def scale(x):
    return x * 2 if is_blackwell() else x  # gate: runtime none | admit 10.* 12.* | gets x * 2
