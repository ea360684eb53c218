"""Code that only runs if an environment variable is set: an option, off by default."""

import os

from .hw import is_sm90, is_sm100


def flag(name, default="false"):
    value = os.getenv(name, default).lower()
    return value in ("1", "true")


class Switch:
    def __init__(self, name, default=False):
        self.name = name
        self.default = default

    def get(self):
        value = os.environ.get(self.name)
        if value is None:
            return self.default
        return value == "1"


class Switches:
    WIDE = Switch("DEMO_WIDE")
    NARROW = Switch("DEMO_NARROW", True)


switches = Switches()
_early = flag("DEMO_EARLY") and is_sm100()  # gate: runtime excluded silent | admit 10.*


def joined(x):
    if flag("DEMO_FAST") and x.ready and (is_sm100() or is_sm90()):  # gate: runtime degraded silent | admit 9.0 10.* | instead x.slow() | gets x.fast()
        return x.fast()
    return x.slow()


def nested(x):
    if "DEMO_NESTED" in os.environ:
        if not is_sm100():  # gate: runtime raises | admit 10.* | says datacenter only
            raise RuntimeError("datacenter only")
        x.run()


def switched(x):
    if switches.WIDE.get():
        width = 256 if is_sm100() else 128  # gate: runtime degraded silent | admit 10.* | instead 128 | gets 256
        return x.wide(width)
    if not switches.NARROW.get():
        assert is_sm90()  # gate: runtime raises | admit 9.0
        return x.any()
    return x.narrow()


def early(x):
    if _early:
        x.early()
    return flag("DEMO_OTHER") and x.other()
