"""What the interpreter and its classes tell of themselves does not stop the evaluation."""

import sys
from dataclasses import dataclass

from .hw import is_sm100


@dataclass
class Times:
    begun: float = 0.0
    ended: float = 0.0


FIELDS = tuple(Times.__dataclass_fields__.keys())


def check():
    release = f"{sys.version_info.major}.{sys.version_info[1]}"
    if sys.version_info < (3, 11, 1):
        raise RuntimeError(f"{release} is too old: {Times.__doc__}, {Times().__module__}")


def after_check(x):
    check()
    if len(FIELDS) == 2 and is_sm100():  # gate: runtime degraded silent | admit 10.* | instead x.slow() | gets x.fast()
        return x.fast()
    return x.slow()


def one_of_two(x, deep):
    return x.ready and (x.dense or (deep and is_sm100()))  # gate: runtime excluded silent | admit 10.*
