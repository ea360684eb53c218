"""Where the time of a scan went, as text."""

from __future__ import annotations

from analyzer.profile import Profile

#: How many files are named.
DEAREST = 10


def profile_text(profile: Profile) -> str:
    """A table of stages (those inside others among them), and of the files that took most time."""
    lines = ["stage             wall s    cpu s"]
    for name, spent in profile.stages.items():
        kept = "  from an earlier scan" if spent.kept else ""
        lines.append(f"{name:<14} {spent.wall:9.2f} {spent.processor:8.2f}{kept}")
    if profile.files:
        lines += ["", "Python file, all architectures together         cpu s"]
        lines += [f"{seconds:9.2f}  {path}" for path, seconds in profile.dearest(DEAREST)]
    return "\n".join(lines)
