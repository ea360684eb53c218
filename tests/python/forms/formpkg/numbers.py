"""Numbers made of major and minor."""

from .hw import device_sm

_device_sm = device_sm()


def equal(x):
    if _device_sm == 100 and x.shape[0] == 256:  # gate: runtime excluded silent | admit 10.0 | gets x.router()
        x.router()


def among(x):
    supports = _device_sm in [90, 100]
    if supports:  # gate: runtime degraded silent | admit 9.0 10.0 | instead x.mla() | gets x.mha()
        return x.mha()
    return x.mla()


def bounded(x):
    if x.small and 90 <= _device_sm < 120:  # gate: runtime excluded silent | admit 9.0 10.* 11.0 | gets x.fused_gate()
        x.fused_gate()


def at_least(x):
    if _device_sm >= 90:  # gate: runtime none | admit 9.0 10.* 11.* 12.* | gets x.cluster()
        x.cluster()
