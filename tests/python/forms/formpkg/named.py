"""Architectures in a list that has a name, and is compared further down."""

import torch

MAJORS = (9, 10)
SIZES = (8, 16)


def dense(version):
    versions = ["sm_100", "sm_103"]  # gate: runtime raises | admit 10.0 10.3 | says only for {versions}
    assert version in versions, f"only for {versions}"  # gate: runtime raises | admit 10.0 10.3 | says only for {versions}
    return version


def run(x):
    major, minor = torch.cuda.get_device_capability()
    return dense(f"sm_{major}{minor}").apply(x)


def tune(x):
    if torch.cuda.get_device_capability()[0] in MAJORS and x.size in SIZES:  # gate: runtime excluded silent | admit 9.* 10.*
        x.tune()
