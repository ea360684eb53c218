"""Architecture lists of builds: by argument, by constant, fixed flags, a conditional expression, a suffix."""

import torch


def gencode(majors=None):
    major, minor = torch.cuda.get_device_capability()
    found = [(a, b) for a, b in [(major, minor)] if majors is None or a in majors]
    if not found:
        raise RuntimeError("no architecture to build for")
    return [f"-gencode=arch=compute_{a}{b},code=sm_{a}{b}" for a, b in found]


NARROW = [9, 10]


def by_list():
    return gencode(majors=[9, 10, 12])  # gate: jit none | admit 9.0 10.* 12.*


def by_short_list():
    return gencode(majors=[10])  # gate: jit raises | admit 10.* | says no architecture to build for


def by_constant():
    return gencode(NARROW)  # gate: jit raises | admit 9.0 10.* | says no architecture to build for


def for_all():
    return gencode()


def suffix():
    major, minor = torch.cuda.get_device_capability()
    if major == 9:  # gate: runtime degraded silent | admit 9.0 | instead text = f'{minor}' | gets text = f'{minor}a'
        text = f"{minor}a"
    else:
        text = f"{minor}"
    return f"{major}.{text}"


def flags():
    found = ["-O3"]
    if torch.cuda.get_device_capability()[0] in (9, 10):  # gate: runtime excluded silent | admit 9.0 10.* | gets found.append('-DUSE_TMA')
        found.append("-DUSE_TMA")
    return found
