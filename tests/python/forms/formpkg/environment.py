"""Architecture lists handed on by environment variables, and forced choices."""

import os

import torch


def export():
    major, minor = torch.cuda.get_device_capability()
    os.environ["DEMO_ARCH_LIST"] = f"{major}.{minor}{'+PTX' if major == 9 else ''}"  # gate: runtime degraded silent | admit 9.0 | instead '' | gets '+PTX'


def forced(x):
    target = os.environ.get("DEMO_DSL_ARCH", "")
    if not target:
        major, minor = torch.cuda.get_device_capability()
        target = f"sm_{major}{minor}a"
    if target != "sm_100a":  # gate: runtime raises | admit 10.0 | says sm_120a is not generated
        raise RuntimeError(f"{target} is not generated")
    return x
