"""Objects that a module makes and functions complete: settings that are published, resolvers in a table."""

from typing import ClassVar

import torch


class Settings:
    def __init__(self):
        self._values = None
        self._names = {}
        self._major = None

    def publish(self, values):
        self._values = values
        self._names["published"] = True

    def values(self):
        if not self._values:
            raise ValueError("not published")
        return self._values

    def named(self, name):
        if name not in self._names:
            raise KeyError(name)
        return self._names[name]

    def major(self):
        if self._major is None:
            self._major = torch.cuda.get_device_capability()[0]
        return self._major


SETTINGS = Settings()


def prefill_default():
    major = torch.cuda.get_device_capability()[0]
    # gate: runtime excluded silent | admit 9.* 10.*
    if SETTINGS.values().backend != "slow" or major not in (9, 10):
        return None
    return "fast"


def decode_default():
    if not SETTINGS.named("published"):
        return None
    # gate: runtime degraded silent | admit 9.* | gets 'fast' | instead 'slow'
    return "fast" if SETTINGS.major() == 9 else "slow"


class Resolver:
    name: str

    @classmethod
    def resolve(cls, platform):
        raise NotImplementedError


class Plain(Resolver):
    name = "plain"

    @classmethod
    def resolve(cls, platform):
        return "plain"


class Sparse(Resolver):
    name = "sparse"
    capabilities: ClassVar = {(9, 0), (10, 0)}  # gate: runtime raises | admit 9.0 10.0 | says sparse attention needs 9.0 or 10.0

    @classmethod
    def resolve(cls, platform):
        # gate: runtime raises | admit 9.0 10.0 | says sparse attention needs 9.0 or 10.0
        if platform.capability() not in cls.capabilities:
            raise ValueError("sparse attention needs 9.0 or 10.0")
        return "sparse"


RESOLVERS = {resolver.name: resolver for resolver in (Plain, Sparse)}


class Base:
    @classmethod
    def capability(cls):
        raise NotImplementedError

    @classmethod
    def backend(cls, name):
        resolver = RESOLVERS.get(name)
        if resolver is None:
            raise ValueError(name)
        return resolver.resolve(cls)


class Cuda(Base):
    @classmethod
    def capability(cls):
        return torch.cuda.get_device_capability()


def chunked_default(options):
    major = torch.cuda.get_device_capability()[0]
    # gate: runtime excluded silent | admit 9.* 10.*
    if options.backend is not None or options.deterministic or options.paged or major not in (9, 10):
        return None
    return "chunked"


def overlap(options):
    # gate: runtime excluded silent | admit 7.5 8.* 9.* 11.*
    if options.deep and torch.cuda.get_device_capability()[0] not in (10, 12):
        options.overlap()
