"""Which choices of back end lead an entry to a build: what tells its ways in apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from analyzer.model import Path
from analyzer.python.trials import AUTO, Trial

_BUILD = "build:"


def told_apart(
    paths: Iterable[Path],
    trials: Mapping[str, Iterable[Trial]],
    built: Mapping[str, str],
    names: Mapping[str, tuple[str, ...]],
) -> tuple[Path, ...]:
    """The paths with the choices under which a run of their entry loaded their build, on any architecture.

    ``trials`` by architecture; ``built``: the function that makes a build to the build's name; ``names``:
    dotted definition to its public names.
    """
    loading: dict[tuple[str, str], dict[str, None]] = {}
    for trial in (trial for told in trials.values() for trial in told if trial.choice):
        makers = [maker for maker, _ in trial.exports] + [build.maker for build in trial.compiled]
        for build in {built[maker] for maker in makers if maker in built}:
            for name in names[trial.entry]:
                loading.setdefault((name, build), {}).setdefault(trial.choice)
    entries = {name for name, _ in loading}
    return tuple(_with_choices(path, loading, entries) for path in paths)


def _with_choices(
    path: Path, loading: Mapping[tuple[str, str], Mapping[str, None]], entries: set[str]
) -> Path:
    name = path.entry.name
    owner = name if name in entries else name.rpartition(".")[0]
    builds = [step.removeprefix(_BUILD) for step in path.steps if step.startswith(_BUILD)]
    found = dict.fromkeys(choice for build in builds for choice in loading.get((owner, build), ()))
    if not found:
        return path
    return msgspec.structs.replace(path, backends=tuple(sorted(found, key=lambda c: (c == AUTO, c))))
