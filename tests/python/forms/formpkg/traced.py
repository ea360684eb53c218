"""Kernels that a compiler outside the tree traces: they check the architecture that they are made for."""

import cutlass.cute as cute
import torch


class Kernel:
    def __init__(self, size, sm_version):
        assert sm_version == "sm_100", "sm_100 alone"  # gate: runtime raises | admit 10.0 | says sm_100 alone
        self.size = size


class Wrapper:
    def __init__(self, size, sm_version):
        self._size = size
        self._sm_version = sm_version

    @cute.jit
    def __call__(self, pointer):
        Kernel(self._size, sm_version=self._sm_version)(pointer)


def compiled(size, sm_version):
    return cute.compile(Wrapper(size, sm_version), size)


def run(x):
    major, minor = torch.cuda.get_device_capability()
    compiled(x.size, sm_version=f"sm_{major}{minor}")(x)
