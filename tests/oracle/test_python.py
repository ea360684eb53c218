"""The evaluator against real execution under simulated devices of nine capabilities, with two toolkits.

Every record must be equal or undecided. Left out, by rule: records that are a limit of the simulation
(``harness_limit``) or that could not be written down (``unrepresentable``); and those that depend on the
product rather than on the architecture: they are undecided, and equal as soon as the product facts of the
simulated device (name, number of multiprocessors) are assumed. Packages that the simulation had stubs for
are taken to be installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from analyzer.python import device
from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.values import Raised, Value, lift
from tests.oracle.records import (
    PACKAGES,
    SITE,
    Tally,
    argument,
    index_of,
    judge,
    machine,
    outcome,
    products,
    records,
)

Compute = Callable[[Machine], Value]


@pytest.fixture(scope="module")
def index(demo: Path) -> ModuleIndex:
    return index_of(demo, [name for package in PACKAGES for name in records(package)["stubs_used"]])


@pytest.fixture(scope="module")
def machines(index: ModuleIndex) -> Callable[..., Machine]:
    """One evaluator for each simulated run, made when first asked for."""
    made: dict[tuple[str, str, str], Machine] = {}

    def get(capability: str, cuda: str, arch_list: str = "") -> Machine:
        key = capability, cuda, arch_list
        if key not in made:
            environment = {"FLASHINFER_CUDA_ARCH_LIST": arch_list} if arch_list else {}
            made[key] = machine(index, capability, cuda, environment)
        return made[key]

    return get


@contextmanager
def product(facts: dict[str, str]) -> Iterator[None]:
    """Assume a product: entries of the device model that are free get these values."""
    table = dict(device.doors())
    for path, text in facts.items():
        assert table[path].kind == "free"
        table[path] = device.Door(path, "host", compile(text, path, "eval"), text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "doors", lambda: table)
        device.lookup.cache_clear()
        yield
    device.lookup.cache_clear()


def _predicate(name: str, record: dict[str, Any]) -> Compute:
    """A predicate is called with its recorded arguments; what the platform object says may be no function."""

    def compute(m: Machine) -> Value:
        found = m.named(name.removesuffix("()"))
        if not name.endswith("()") and isinstance(found.data, (bool, int)):
            return found
        return m.call(found, [argument(m, given) for given in record["args"]], {}, SITE)

    return compute


def _questions(package: str) -> Iterator[tuple[str, dict[str, Any], Compute]]:
    found = records(package)
    for name, record in found["predicates"].items():
        yield name, record, _predicate(name, record)
    for name, record in found["module_values"].items():
        yield name, record, lambda m, name=name: m.named(name)  # type: ignore[misc]


def test_predicates_and_module_values(
    machines: Callable[..., Machine], index: ModuleIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = Tally()
    facts = products()
    by_product: dict[str, Machine] = {}
    for package in PACKAGES:
        for name, record, compute in _questions(package):
            for cuda, by_capability in record["values"].items():
                for capability, want in by_capability.items():
                    if record.get("harness_limit") or (isinstance(want, dict) and "unrepresentable" in want):
                        tally.counts["not comparable"] += 1
                        continue
                    m = machines(capability, cuda)
                    got = outcome(m, lambda: compute(m))  # noqa: B023
                    if judge(got, want) == "undecided":
                        with product(facts[capability]):
                            assumed = by_product.get(f"{capability}@{cuda}")
                            if assumed is None:
                                assumed = by_product[f"{capability}@{cuda}"] = machine(
                                    index, capability, cuda
                                )
                            again = outcome(assumed, lambda: compute(assumed))  # noqa: B023
                        if judge(again, want) != "undecided":
                            tally.counts["free by product"] += judge(again, want) == "equal"
                            if judge(again, want) == "wrong":
                                tally.add(f"{name}, product assumed", again, want)
                            continue
                    tally.add(name, got, want)
    with capsys.disabled():
        print(f"\npredicates and module values: {tally.known:.1%} known; {tally}")
    assert tally.counts["equal"] > 2000
    assert not tally.wrong, str(tally)
    assert tally.known >= 0.97, str(tally)


def test_decorated_functions_know_their_capabilities(machines: Callable[..., Machine]) -> None:
    """What a function's own API says for each compute capability, with and without a backend."""
    m = machines("12.0", "13.0")
    tally = Tally()
    for name, record in records("flashinfer_python-0.6.3")["decorators"].items():
        if record.get("differs_by_run"):
            continue

        def ask(method: str, *given: Any, name: str = name) -> Value | Raised:
            def compute() -> Value:
                return m.call(
                    m.attribute(m.named(name), method, SITE), [lift(value) for value in given], {}, SITE
                )

            return outcome(m, compute)

        for cc, want in record["is_compute_capability_supported"].items():
            tally.add(f"{name} cc {cc}", ask("is_compute_capability_supported", int(cc)), want)
        for backend, facts in record.get("backends", {}).items():
            for cc, want in facts["is_backend_supported"].items():
                tally.add(f"{name} {backend} cc {cc}", ask("is_backend_supported", backend, int(cc)), want)
        if "_supported_ccs" in record:
            found = outcome(m, lambda: m.attribute(m.named(name), "_supported_ccs", SITE))  # noqa: B023
            tally.add(f"{name}._supported_ccs", found, record["_supported_ccs"])
    assert tally.counts["equal"] > 500
    assert tally.counts.keys() == {"equal"}, str(tally)


def _runs() -> list[str]:
    try:
        return list(records("flashinfer_python-0.6.3")["jit"]["context"])
    except pytest.skip.Exception:
        return []


@pytest.mark.parametrize("run", _runs())
def test_compilation_context(run: str, machines: Callable[..., Machine]) -> None:
    """The architecture list that a build would use: from the device, or from the environment variable."""
    record = records("flashinfer_python-0.6.3")["jit"]["context"][run]
    kind, cuda, arch = run.split("@")
    capability = arch.removesuffix("a")
    m = machines(capability, cuda, arch if kind == "env" else "")
    tally = Tally()
    context = "flashinfer.jit.core.current_compilation_context"
    for text, want in record["get_nvcc_flags_list"].items():
        majors = json.loads(text.replace("None", "null"))

        def flags(majors: Any = majors) -> Value:
            return m.call(m.named(f"{context}.get_nvcc_flags_list"), [lift(majors)], {}, SITE)

        tally.add(f"get_nvcc_flags_list({text})", outcome(m, flags), want.get("value", want))
    want = record["detect_sm_capabilities"]
    found = outcome(m, lambda: m.call(m.named("flashinfer.aot.detect_sm_capabilities"), [], {}, SITE))
    tally.add("detect_sm_capabilities", found, want.get("value", want))
    assert tally.counts.keys() == {"equal"}, str(tally)
