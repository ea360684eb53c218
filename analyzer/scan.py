"""A scan: its report, taken from an earlier scan of the same or made now.

The pipeline that makes it is loaded only where it is made: a scan of what was scanned before does without.
"""

from __future__ import annotations

from analyzer.model import Report
from analyzer.profile import Profile
from analyzer.request import Progress, ScanOptions
from analyzer.tree.cache import Cache
from analyzer.tree.files import open_tree
from analyzer.tree.stages import Stage, Stages

__all__ = ["ScanOptions", "scan"]

_REPORT = Stage("report")


def scan(
    options: ScanOptions,
    progress: Progress = lambda stage, done, total: None,
    profile: Profile | None = None,
) -> Report:
    """Analyse a tree; ``profile`` is filled in with where the time went.

    Raises:
        TreeError: the root is missing, holds no Python package, or cannot be read.
    """
    profile = profile or Profile()
    with profile.stage("tree"):
        tree = open_tree(options.root, options.packages)
    store = Cache() if options.cache else None
    stages = Stages(tree, store, profile)

    def analysed() -> Report:
        from analyzer.pipeline import analyse

        return analyse(tree, store, stages, options, progress, profile)

    return stages.keep(
        _REPORT,
        ("python", "cuda", "binary"),
        (options.target, options.references, options.cuda, options.environment),
        analysed,
    )
