"""A property of the platform in a module that holds no other name of a device answer."""

from .platform import get_platform


def attention(x):
    if get_platform().has_tensor_memory:  # gate: runtime degraded silent | admit 10.* | instead 'triton' | gets 'fa4'
        return "fa4"
    return "triton"
