"""The nouns of a report: gates, builds, paths, coverage; frozen, typed, serialisable.

Every type here is part of the report contract (``docs/contract.md``) and is written to JSON under the
names that stand here. Paths are relative to the scanned root, with ``/``; lines and columns start at 1.
"""

from __future__ import annotations

from typing import Literal

import msgspec

SCHEMA_VERSION = "1"

Verdict = Literal["admit", "reject", "unknown"]
Layer = Literal["runtime", "api", "jit", "guard", "host", "isa", "resource", "binary", "env"]
Effect = Literal[
    "raises",
    "excluded",
    "degraded",
    "empty_kernel",
    "lost_sync",
    "illegal_instruction",
    "over_resource",
    "no_image",
    "wrongly_admitted",
    "none",
]
Severity = Literal["error", "warning", "note", "none"]
When = Literal["always", "default", "ahead_of_time"]
Outcome = Literal["ok", "raises", "unknown"]
Status = Literal["supported", "unsupported", "degraded", "unknown"]

#: From the gravest to the mildest.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note", "none")
#: In the order in which a user meets them: Python, the build, the host's code, the device's.
LAYERS: tuple[Layer, ...] = ("runtime", "api", "env", "jit", "host", "guard", "isa", "resource", "binary")


class Value(msgspec.Struct, frozen=True, omit_defaults=False):
    """Base of all report types: immutable, compared by content."""


class Place(Value, frozen=True, order=True):
    """A line of a scanned file."""

    file: str
    line: int


class Step(Value, frozen=True, order=True):
    """A place and what it contributes, in words."""

    file: str
    line: int
    what: str


class Loss(Value, frozen=True, order=True):
    """What the target loses at a gate.

    ``what`` is the name (an intrinsic, an instruction, a function), ``kind`` its class
    (``wait``, ``trigger``, ``barrier``, ``fence``, ``body``, ``instruction``, ``call``, ...).
    """

    what: str
    kind: str
    file: str
    line: int


class Justification(Value, frozen=True):
    """Whether the chip or an oversight stands behind a rejection, with what was followed."""

    kind: Literal["hardware", "liftable", "unknown"]
    evidence: tuple[Step, ...] = ()


class BuildVerdict(Value, frozen=True):
    """The verdict of one gate inside one build."""

    build: str
    verdict: dict[str, Verdict]


class Part(Value, frozen=True):
    """One operand of a gate's condition and its value on each architecture, as text."""

    code: str
    value: dict[str, str]


class Gate(Value, frozen=True):
    """One place where a device answer meets a purpose."""

    id: str
    layer: Layer
    file: str
    line: int
    end_line: int
    column: int
    scope: str
    code: str
    verdict: dict[str, Verdict]
    effect: Effect = "none"
    severity: Severity = "none"
    silent: bool = False
    specialised: bool = False
    falls_back_to: str | None = None
    loses: tuple[Loss, ...] = ()
    because: tuple[Step, ...] = ()
    uses: tuple[Place, ...] = ()
    dispatch: str | None = None
    count: int = 1
    verdict_by_build: tuple[BuildVerdict, ...] = ()
    justification: Justification | None = None
    verified_by: tuple[str, ...] = ()
    # Beyond the contract's floor.
    message: str | None = None
    """What a user would read when the target raises here."""
    order: int = 0
    """Position among equal conditions of the same scope, from 0."""
    parts: tuple[Part, ...] = ()
    admits: str | None = None
    """What the architectures that pass get here (a name, a value), where it can be named."""
    negated: bool = False
    """The gated code runs where the condition is false (``if not …: raise``)."""
    in_tests: bool = False
    """The file belongs to a test folder shipped inside a package."""


class Predicate(Value, frozen=True):
    """A name whose value is decided by architecture and toolkit alone."""

    name: str
    file: str
    line: int
    value: dict[str, str]
    uses: tuple[str, ...] = ()
    # Beyond the contract's floor.
    end_line: int = 0
    """The last line of its definition."""


class Build(Value, frozen=True):
    """One just-in-time (or ahead-of-time) build and its outcome on each architecture.

    ``given``: where it is one of many that are made to measure, the arguments with which this one was made.
    """

    name: str
    function: str
    file: str
    line: int
    outcome: dict[str, Outcome]
    message: dict[str, str] = {}
    sources: tuple[str, ...] = ()
    spelling: dict[str, tuple[str, ...]] = {}
    flags: dict[str, tuple[str, ...]] = {}
    given: str = ""


class Node(Value, frozen=True):
    """A vertex of the graph. ``kind``: entry, function, gate, build, source, export, kernel, ..."""

    id: str
    kind: str
    name: str
    file: str
    line: int


class Edge(Value, frozen=True, rename={"source": "from", "target": "to"}):
    """A directed edge between two node or gate ids. ``kind``: calls, by_name, builds, exports, ..."""

    source: str
    target: str
    kind: str


class Entry(Value, frozen=True, order=True):
    """What a user can name: an API, a server option, an environment variable."""

    name: str
    kind: Literal["api", "option", "environment"]
    file: str
    line: int


class Barrier(Value, frozen=True):
    """A rejecting gate on a path and the circumstance in which it counts."""

    gate: str
    when: When


class Path(Value, frozen=True):
    """A way from an entry to what it can run; ``steps`` are node or gate ids in order."""

    id: str
    entry: Entry
    steps: tuple[str, ...]
    barriers: tuple[Barrier, ...]
    effect: Effect
    severity: Severity
    # Beyond the contract's floor.
    backends: tuple[str, ...] = ()
    """The choices of back end with which the entry was seen to load the build of this way."""


class Cell(Value, frozen=True):
    """One row of the support matrix: an API with one backend on every architecture."""

    api: str
    backend: str
    file: str
    line: int
    status: dict[str, Status]
    chosen: dict[str, str] = {}
    reasons: dict[str, tuple[str, ...]] = {}
    # Beyond the contract's floor.
    area: str = ""
    """The field of work that it belongs to, such as attention or GEMM."""
    message: dict[str, str] = {}
    """What a user would read where it raises."""
    why: dict[str, str] = {}
    """Why it is unknown."""


class Skipped(Value, frozen=True, order=True):
    """A file that could not be read, and why."""

    file: str
    why: str


class Unresolved(Value, frozen=True, order=True):
    """A place that depends on the architecture and could not be decided."""

    file: str
    line: int
    what: str
    why: str
    # Beyond the contract's floor.
    blocks: int = 1
    """How many conditions stay undecided for it."""


class FileFacts(Value, frozen=True, order=True):
    """What was read in one file: how many expressions depend on the architecture, how many are gates."""

    file: str
    expressions: int
    gates: int


class Files(Value, frozen=True):
    """Counts of files: seen in the tree, read, parsed, parsed in part; and those skipped."""

    seen: int
    read: int
    parsed: int
    partly_parsed: int
    skipped: tuple[Skipped, ...] = ()


class Coverage(Value, frozen=True):
    """What was read and what was not understood."""

    files: Files
    unresolved: tuple[Unresolved, ...] = ()
    read: tuple[FileFacts, ...] = ()


class Input(Value, frozen=True, order=True):
    """A scanned package; ``root`` is its top folder relative to the scanned root."""

    package: str
    version: str
    root: str


class Notice(Value, frozen=True):
    """Something about the input as a whole that the reader should know."""

    what: str
    packages: tuple[str, ...]


class Tool(Value, frozen=True):
    """The program that wrote the report."""

    name: str
    version: str


class Target(Value, frozen=True):
    """The architecture in question, and the CUDA toolkit that is assumed."""

    arch: str
    capability: str
    cuda: str


class Report(Value, frozen=True):
    """Everything smgate found; every view is drawn from this alone."""

    schema_version: str
    tool: Tool
    target: Target
    references: tuple[str, ...]
    archs: tuple[str, ...]
    inputs: tuple[Input, ...]
    notices: tuple[Notice, ...]
    predicates: tuple[Predicate, ...]
    gates: tuple[Gate, ...]
    builds: tuple[Build, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    paths: tuple[Path, ...]
    matrix: tuple[Cell, ...]
    coverage: Coverage

    @property
    def findings(self) -> tuple[Gate, ...]:
        """The gates with an effect other than ``none``, outside test folders."""
        return tuple(g for g in self.gates if g.effect != "none" and not g.in_tests)


def encode(report: Report) -> bytes:
    """The report as JSON: keys in the order of the contract, mappings sorted, two spaces of indent."""
    encoder = msgspec.json.Encoder(order="deterministic")
    return msgspec.json.format(encoder.encode(report), indent=2) + b"\n"


def decode(data: bytes) -> Report:
    """Read a report written by :func:`encode`.

    Raises:
        msgspec.ValidationError: the JSON is not a report of this schema version.
        msgspec.DecodeError: the bytes are not JSON.
    """
    report = msgspec.json.decode(data, type=Report)
    if report.schema_version != SCHEMA_VERSION:
        raise msgspec.ValidationError(
            f"report has schema version {report.schema_version!r}, this program reads {SCHEMA_VERSION!r}"
        )
    return report
