"""Calls of an imported predicate, positive and under ``not``."""

from .hw import is_sm100


def fast(x):
    return x


def slow(x):
    return x + 0


def choose(x):
    if is_sm100():  # gate: runtime degraded silent | admit 10.* | instead slow(…) | gets fast(…)
        return fast(x)
    return slow(x)


def demand(x):
    if not is_sm100():  # gate: runtime raises | admit 10.* | says needs a datacenter Blackwell
        raise RuntimeError("needs a datacenter Blackwell")
    return fast(x)


def tell(x, log):
    if not is_sm100():  # gate: runtime degraded | admit 10.* | instead slow(…)
        log.warning("the fast way is not available")
        return slow(x)
    return fast(x)
