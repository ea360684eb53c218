"""What is built ahead of time: flags found once in a table and handed on."""

import torch


def find():
    major, minor = torch.cuda.get_device_capability()
    wanted = [f"-arch=compute_{major}{minor}"]

    def has(name, release):
        if not any(name in flag for flag in wanted):
            return False
        return torch.version.cuda >= release

    return {"sm90": has("compute_90", "12.3"), "sm100": has("compute_100", "12.8")}


def build_all(capabilities, misc):
    has_sm90 = capabilities.get("sm90", False)
    has_sm100 = capabilities["sm100"]
    parts = []
    if not has_sm90 and not has_sm100:  # gate: runtime degraded silent | admit 9.0 10.0 | instead parts
        return parts
    if has_sm100:  # gate: runtime none | admit 10.0 | gets parts.append('comm')
        parts.append("comm")
    if has_sm90 or has_sm100:  # gate: runtime none | admit 9.0 10.0 | gets parts.append('moe')
        parts.append("moe")
    return parts


def main():
    return build_all(find(), True)
