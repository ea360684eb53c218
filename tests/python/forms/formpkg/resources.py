"""Tuning: conditional expressions over predicates, shared memory, tables by product."""

import torch

from .hw import is_sm100, is_sm120

_is_sm120 = is_sm120()
_is_sm100 = is_sm100()


def stages():
    return (
        1
        if _is_sm120  # gate: runtime none specialised | admit 7.5 8.* 9.0 10.* 11.0 12.1 | gets 4 if _is_sm100 else 2
        else (
            4
            if _is_sm100  # gate: runtime none | admit 10.* | gets 4
            else 2
        )
    )


def roomy():
    props = torch.cuda.get_device_properties(0)
    return props.shared_memory_per_block_optin > 200_000


def tiles():
    return [64, 128] if roomy() else [32, 64]  # gate: runtime degraded silent | admit 9.0 10.* 11.0 | instead [32, 64] | gets [64, 128]
