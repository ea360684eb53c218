"""A report of the size of two real packages: 600 gates, 100 builds, 200 ways in of some 30 steps."""

from __future__ import annotations

import msgspec

from analyzer.model import (
    Barrier,
    Build,
    Cell,
    Coverage,
    Edge,
    Entry,
    FileFacts,
    Files,
    Gate,
    Justification,
    Loss,
    Node,
    Part,
    Path,
    Report,
    Step,
    Unresolved,
)
from tests.report import sample

GATES, BUILDS, PATHS, NODES = 600, 100, 200, 1200
PYTHON, HEADERS = 80, 60


LEGAL = Justification("liftable", (Step("turbine/data/include/turbine/comm/kernels_1.cuh", 7, "all legal"),))


def python_file(number: int) -> str:
    return f"turbine/layers/group_{number % 8}/some_layer_implementation_{number}.py"


def header(number: int) -> str:
    return f"turbine/data/include/turbine/comm/kernel_collection_{number}.cuh"


def source(file: str) -> list[str] | None:
    """Forty lines of plausible code, twenty-five times."""
    text = sample.SOURCES[sample.HEADER if file.endswith(".cuh") else sample.SERVER]
    return [line for _ in range(60) for line in text.splitlines()]


def gate(number: int) -> Gate:
    guard = number % 2 == 0
    template = sample.WAIT if guard else sample.FUSE_GATE
    file = header(number % HEADERS) if guard else python_file(number % PYTHON)
    line = 10 + (number * 7) % 900
    harmless = number % 3 == 0
    loses = tuple(Loss(loss.what, loss.kind, file, line + 1) for loss in template.loses)
    return msgspec.structs.replace(
        template,
        id=f"{template.layer} {file} scope_{number} {template.code} {number}",
        file=file,
        line=line,
        end_line=line,
        scope=f"some_kernel_or_function_{number}",
        effect="none" if harmless else template.effect,
        severity="none" if harmless else template.severity,
        loses=() if harmless else loses,
        because=tuple(
            Step(python_file(k), 30 + number % 15 * 20, f"`v{k}` is `source_{k}()`") for k in range(4)
        ),
        uses=(),
        parts=(*template.parts, Part(f"option_{number} is None", dict.fromkeys(sample.ARCHS, "free"))),
        justification=None if harmless else LEGAL,
    )


def report() -> Report:
    """The large report."""
    gates = tuple(gate(n) for n in range(GATES))
    nodes = tuple(
        Node(
            f"function {n}",
            "kernel" if n % 5 == 0 else "function",
            f"module.function_{n}",
            place,
            1 + n % 900,
        )
        for n in range(NODES)
        for place in [python_file(n % PYTHON) if n % 2 else header(n % HEADERS)]
    )
    edges = tuple(
        Edge(nodes[n].id, nodes[m].id, "calls")
        for n in range(NODES)
        for m in sorted({(n + 1) % NODES, (n + 3) % NODES} if n % 4 == 0 else {(n + 1) % NODES})
    )
    edges += tuple(Edge(nodes[n * 2].id, gates[n].id, "guards") for n in range(GATES))
    return msgspec.structs.replace(
        sample.REPORT,
        gates=gates,
        nodes=nodes,
        edges=edges,
        builds=tuple(build(n) for n in range(BUILDS)),
        paths=tuple(path(n, gates, nodes) for n in range(PATHS)),
        predicates=(),
        matrix=tuple(cell(n, gates) for n in range(80)),
        coverage=Coverage(
            Files(3000, 2990, 2900, 90),
            tuple(
                Unresolved(python_file(n % PYTHON), 1 + n, f"call_{n}(x)", f"reason {n % 7}")
                for n in range(400)
            ),
            tuple(FileFacts(python_file(n) + str(n), n % 4, 0) for n in range(700)),
        ),
    )


def build(number: int) -> Build:
    return msgspec.structs.replace(
        sample.REPORT.builds[0],
        name=f"module_{number}",
        sources=tuple(f"turbine/data/csrc/source_{number}_{k}.cu" for k in range(6)),
    )


def path(number: int, gates: tuple[Gate, ...], nodes: tuple[Node, ...]) -> Path:
    first = (number * 4) % (NODES - 40)
    steps = [node.id for node in nodes[first : first + 24]]
    barriers = [gate for gate in gates[first // 2 : first // 2 + 10] if gate.effect != "none"]
    entry = Entry(f"turbine.api.function_{number}", "api", python_file(number % PYTHON), 5)
    return Path(
        f"path {number}",
        entry,
        (*steps, *(gate.id for gate in barriers)),
        tuple(Barrier(gate.id, "always") for gate in barriers),
        "raises",
        "error",
    )


def cell(number: int, gates: tuple[Gate, ...]) -> Cell:
    return Cell(
        f"turbine.area_{number % 6}.api_{number // 4}",
        f"backend_{number % 4}",
        python_file(number % PYTHON),
        4,
        {a: ("supported", "unsupported", "degraded", "unknown")[(number + len(a)) % 4] for a in sample.ARCHS},  # type: ignore[misc]
        {},
        {"sm_120": (gates[number].id,)},
    )
