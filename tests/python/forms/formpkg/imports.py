"""Imports chosen by architecture; an import that stands for support."""

from .hw import is_sm90

if is_sm90():  # gate: runtime degraded silent | admit 9.0 | instead from .slow_ops import gemm | gets from .fast_ops import gemm
    from .fast_ops import gemm
else:
    from .slow_ops import gemm

try:
    if not is_sm90():  # gate: runtime degraded silent | admit 9.0 | instead attention = None
        raise ImportError("no kernels for this device")
    from .fast_ops import attention
except ImportError:
    attention = None


def run(x):
    return gemm(attention(x))
