"""Ways of one entry are told apart by the choices under which a run loaded their build."""

from __future__ import annotations

from analyzer.judge.backends import told_apart
from analyzer.model import Entry, Path
from analyzer.python.trials import Compiled, Trial
from analyzer.python.values import Site

SITE = Site("kit/api.py", 1, 1, 1)
BUILT = {"kit.jit.wide": "wide_build", "kit.jit.plain": "plain_build"}


def trial(entry: str, choice: str, exports: tuple[str, ...] = (), compiled: tuple[str, ...] = ()) -> Trial:
    loaded = tuple(Compiled(maker, SITE, "", "", (), True) for maker in compiled)
    called = tuple((maker, "run") for maker in exports)
    return Trial(entry, entry, choice, SITE, (), False, (), called, loaded, ())


def path(name: str, build: str) -> Path:
    steps = (f"entry:{name}", f"build:{build}")
    return Path(f"{name} {build}", Entry(name, "api", "kit/api.py", 1), steps, (), "none", "none")


def test_a_way_has_the_choices_that_load_its_build() -> None:
    trials = {
        "sm_90": [
            trial("kit.api.Plan", "wide", exports=("kit.jit.wide",)),
            trial("kit.api.Plan", "auto", ("kit.jit.wide",)),
        ],
        "sm_120": [
            trial("kit.api.Plan", "plain", compiled=("kit.jit.plain",)),
            trial("kit.api.run", "", ("kit.jit.wide",)),
        ],
    }
    names = {"kit.api.Plan": ("kit.Plan", "kit.api.Plan"), "kit.api.run": ("kit.run",)}
    paths = [
        path("kit.Plan.run", "wide_build"),
        path("kit.Plan.run", "plain_build"),
        path("kit.Plan", "wide_build"),
        path("kit.run", "wide_build"),
        path("kit.Planner.run", "wide_build"),
    ]
    found = [way.backends for way in told_apart(paths, trials, BUILT, names)]
    assert found == [("wide", "auto"), ("plain",), ("wide", "auto"), (), ()]
