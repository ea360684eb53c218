"""Architectures that a class lists, and a comparison further down reads."""

from typing import ClassVar

import torch


class Resolver:
    name = ("block", "sparse")
    capabilities: ClassVar = {(9, 0), (10, 0)}  # gate: runtime raises | admit 9.0 10.0 | says needs 9.0 or 10.0

    @classmethod
    def resolve(cls, platform):
        if torch.cuda.get_device_capability() not in cls.capabilities:  # gate: runtime raises | admit 9.0 10.0 | says needs 9.0 or 10.0
            raise ValueError("needs 9.0 or 10.0")
        return platform


class Family:
    majors = (10, 12)

    @classmethod
    def fits(cls):
        return torch.cuda.get_device_capability()[0] in cls.majors

    def run(self, x):
        if self.fits() and x.ready:  # gate: runtime none | admit 10.* 12.* | gets x.fast()
            return x.fast()
        return x.slow()
