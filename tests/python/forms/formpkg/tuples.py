"""Capabilities as tuples."""

import torch

KNOWN = ((10, 0), (10, 3))  # gate: runtime raises | admit 10.0 10.3 | says unsupported device


def equal():
    if torch.cuda.get_device_capability() == (10, 3):  # gate: runtime none | admit 7.5 8.* 9.0 10.0 11.0 12.* | gets 'narrow'
        return "wide"
    return "narrow"


def member(x):
    if torch.cuda.get_device_capability() not in KNOWN:  # gate: runtime raises | admit 10.0 10.3 | says unsupported device
        raise ValueError("unsupported device")
    return x


def between(x):
    if (10, 0) > torch.cuda.get_device_capability() >= (8, 0):  # gate: runtime excluded silent | admit 8.* 9.0 | gets x.marlin()
        x.marlin()
