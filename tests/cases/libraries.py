"""Hold the images found in two real wheels against cuobjdump, and measure what their scan takes.

Run as ``make cases-binary``: the wheels are too heavy for every run of the tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from analyzer.binary import library
from tests.binary import toolkit
from tests.cases import measure
from tests.cases.records import Release

RELEASES = (Release("sglang-kernel", "0.4.10"), Release("sgl-kernel", "0.3.21"))
#: What is known of them: libraries by name, and the images of every one of their units.
KNOWN = {
    "sglang-kernel": {
        "sgl_kernel/flash_ops.abi3.so": ("sm_80", "sm_86", "sm_90a"),
        "sgl_kernel/flashmla_ops.abi3.so": ("sm_90a", "sm_100f", "sm_103a"),
        "sgl_kernel/sm90/common_ops.abi3.so": ("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100f", "sm_120a"),
        "sgl_kernel/sm100/common_ops.abi3.so": ("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100f", "sm_120a"),
        "sgl_kernel/spatial_ops.abi3.so": ("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100f", "sm_120a"),
    }
}
#: Seconds of processor time and megabytes that the libraries of both may take.
SECONDS, MEGABYTES = 5.0, 500.0


def compare(release: Release, root: Path) -> int:
    """Print every library with its images; how many are not as they should be."""
    wrong = 0
    for path in sorted([*root.rglob("*.so*"), *root.rglob("*.a")]):
        name = path.relative_to(root).as_posix()
        ours = Counter(image.name for unit in library.read(root, name).units for image in unit.images)
        plain: Counter[str] = Counter()
        for image, count in ours.items():
            plain[image.removesuffix("f") if image.startswith("sm_") else image] += count
        theirs = toolkit.listed(path)
        known = KNOWN.get(release.name, {}).get(name)
        good = plain == theirs and (known is None or set(ours) == set(known))
        wrong += not good
        print(f"{'ok  ' if good else 'MISS'} {release} {name}: {dict(sorted(ours.items()))}")
        if not good:
            print(f"     cuobjdump: {dict(sorted(theirs.items()))}")
    return wrong


def scan(root: Path) -> tuple[float, float, float]:
    """Wall and processor seconds and megabytes of a whole scan of a tree, without a cache."""
    command = [sys.executable, "-m", "analyzer", "scan", str(root), "--no-cache", "--quiet", "--jobs", "1"]
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=measure.ROOT, stdout=subprocess.DEVNULL) as process:
        _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Compare and measure; exit code 1 if a count differs or a limit is passed."""
    wrong, seconds, megabytes = 0, 0.0, 0.0
    for release in RELEASES:
        root = measure.tree(release)
        wrong += compare(release, root)
        start = time.process_time()
        for path in [*root.rglob("*.so*"), *root.rglob("*.a")]:
            library.read(root, path.relative_to(root).as_posix())
        seconds += time.process_time() - start
        wall, cpu, peak = scan(root)
        megabytes = max(megabytes, peak)
        print(f"{release}: whole scan {wall:.1f} s, of which processor {cpu:.1f} s, peak {peak:.0f} MB")
    print(f"{wrong} libraries not as they should be; reading them took {seconds:.1f} s of processor time")
    sys.exit(1 if wrong or seconds > SECONDS or megabytes > MEGABYTES else 0)


if __name__ == "__main__":
    main()
