"""Options that are set by architecture: chains, nested checks, other hardware, both sides."""

import torch

from .hw import is_sm90, is_sm100, is_sm120


def is_hip():
    return torch.version.hip is not None


class Options:
    def __init__(self):
        self.backend = None
        self.runner = "auto"
        self.page = 1

    def adjust(self, name):
        if is_sm100():  # gate: runtime degraded silent | admit 10.* | instead backend = 'flex' | gets backend = 'trt'
            self.backend = "trt"
        elif is_sm90():  # gate: runtime degraded silent | admit 9.0 | instead backend = 'flex' | gets backend = 'fa3'
            self.backend = "fa3"
        elif is_hip():
            self.backend = "aiter"
        else:
            self.backend = "flex"

    def announced(self, log):
        if is_sm100():  # gate: runtime degraded | admit 10.* | instead backend = 'flex' | gets backend = 'trt'
            self.backend = "trt"
        else:
            self.backend = "flex"
        log.warning(f"attention runs on {self.backend}")

    def nested(self, name):
        if is_sm100():  # gate: runtime excluded silent | admit 10.* | gets page = 64
            width = name.width()
            if width > 3:
                self.page = 64

    def auto(self, name):
        if is_sm100() and self.runner == "auto":  # gate: runtime excluded silent | admit 10.* | gets runner = 'trt'
            self.runner = "trt"

    def refuse(self):
        if is_sm120():  # gate: runtime excluded silent | admit 7.5 8.* 9.0 10.* 11.0 12.1
            return False
        self.prepare()
        return True

    def single_out(self, x):
        if is_sm120():  # gate: runtime none specialised | admit 7.5 8.* 9.0 10.* 11.0 12.1 | gets x.other()
            return x.small()
        return x.other()

    def single_out_with_regret(self, x, log):
        if is_sm120():  # gate: runtime degraded | admit 7.5 8.* 9.0 10.* 11.0 12.1 | instead x.small() | gets x.other()
            log.info("The wide kernels do not run here; falling back to the small ones.")
            return x.small()
        return x.other()

    def twice(self, x):
        if is_sm100() or is_sm90():  # gate: runtime excluded silent | admit 9.0 10.* | gets x.wide()
            x.wide()
            if is_sm100():  # gate: runtime none | admit 10.* | gets x.wider()
                x.wider()


def filtered(names):
    return [name for name in names if is_sm100()]  # gate: runtime excluded silent | admit 10.*


def matched(x):
    match torch.cuda.get_device_capability()[0]:
        case 10:  # gate: runtime degraded silent | admit 10.* | instead x.c() | gets x.a()
            return x.a()
        case 9:  # gate: runtime degraded silent | admit 9.0 | instead x.c() | gets x.b()
            return x.b()
        case _:
            return x.c()


SETTINGS = {"fusion": False}


def configure(values):
    SETTINGS.update(values)


def by_setting(x):
    if is_sm100() and SETTINGS["fusion"]:  # gate: runtime excluded silent | admit 10.* | gets x.fused()
        x.fused()


def later_link(x):
    if is_sm120():  # gate: runtime none specialised | admit 7.5 8.* 9.0 10.* 11.0 12.1 | gets x.other()
        return x.small()
    elif is_sm100():  # gate: runtime none | admit 10.* | gets x.wide()
        return x.wide()
    return x.other()


def later_bound(x):
    major = torch.cuda.get_device_capability()[0]
    if major == 12:  # gate: runtime none specialised | admit 7.5 8.* 9.0 10.* 11.0 | gets x.wide()
        return x.small()
    elif major >= 9:  # gate: runtime none | admit 9.0 10.* 11.0 | gets x.wide()
        return x.wide()
    return x.other()


def later_shared(x):
    if is_sm100() or is_sm120():  # gate: runtime none | admit 10.* 12.0 | gets x.small()
        return x.small()
    elif is_sm90():  # gate: runtime none | admit 9.0 | gets x.wide()
        return x.wide()
    return x.other()


def further_branch(x):
    capability = torch.cuda.get_device_capability()
    if capability == (10, 0):  # gate: runtime excluded silent | admit 10.0 | gets x.wide()
        x.wide()
    elif capability == (10, 3):  # gate: runtime excluded silent | admit 10.3 | gets x.wider()
        x.wider()
    x.finish()


def further_served(x):
    capability = torch.cuda.get_device_capability()
    if capability == (10, 0):  # gate: runtime degraded silent | admit 10.0 | instead x.small() | gets x.wide()
        x.wide()
    elif capability == (10, 3):  # gate: runtime none | admit 7.5 8.* 9.0 11.0 12.*
        x.wider()
    elif capability == (12, 0):  # gate: runtime none | admit 12.0 | gets x.small()
        x.small()
    x.finish()


def only_told(x, log):
    if not is_sm100():  # gate: runtime none | admit 10.*
        log.warning("slower than elsewhere")
    return x
