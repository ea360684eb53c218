"""Checks that want a newer toolkit for an architecture than the compiler needs for it.

Such as of a table that names for each architecture the release from which on it is built for: where the check
is reached for the target alone, what it asks for is written by the caller, and the assumed toolkit compiles
for the target but is older, the target is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import Version

from analyzer import archs
from analyzer.model import Gate, Step, Verdict
from analyzer.python.values import Origin, Provenance, Raised, Site, Value

if TYPE_CHECKING:
    from analyzer.python.findings import Findings
    from analyzer.python.frames import Frame
    from analyzer.python.machine import Machine

Release = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Asked:
    """A comparison of the toolkit's release with one that a caller wrote, behind a decision on the device."""

    check: Site
    assumed: Release
    wanted: Release
    argument: Site
    code: str
    module: str
    scope: str

    @property
    def held(self) -> bool:
        """Whether the toolkit is new enough."""
        return self.assumed >= self.wanted


@dataclass(frozen=True, slots=True)
class Refused:
    """A raise that a condition on the toolkit's release leads to, behind a decision on the device."""

    site: Site
    message: str
    check: Site
    code: str
    module: str
    scope: str


def refused(frame: Frame, node: ast.expr, test: Value, error: Raised) -> Refused | None:
    """What a condition raises, if the toolkit decides it and no device."""
    if test.tainted or not _from(test.source, Origin.TOOLKIT) or error.site.file != frame.file:
        return None
    module = frame.module.source.name
    return Refused(error.site, error.message, frame.site(node), ast.unparse(node), module, frame.qualname)


def asked(m: Machine, frame: Frame, node: ast.expr, left: Value, right: Value) -> Iterator[Asked]:
    """What a comparison asks, if it is one of that kind."""
    for toolkit, wanted in ((left, right), (right, left)):
        release = _release(wanted.data)
        if release is None or not _from(toolkit.source, Origin.TOOLKIT):
            continue
        for argument in wanted.source.walk() if wanted.source is not None else ():
            written = argument.written
            if argument.kind is Origin.ARGUMENT and written is not None and argument.site is not None:
                code = ast.unparse(written.node)
                place = frame.site(node), m.host.cuda, release
                yield Asked(*place, argument.site, code, written.source.name, written.qualname)
                break


def _from(source: Provenance | None, kind: Origin) -> bool:
    return source is not None and any(one.kind is kind for one in source.walk())


def _release(data: object) -> Release | None:
    if isinstance(data, Version):
        return data.major, data.minor
    found = re.fullmatch(r"(\d+)\.(\d+)", data) if isinstance(data, str) else None
    return (int(found[1]), int(found[2])) if found is not None else None


def gates(
    found: Mapping[str, Findings], target: str, references: Sequence[str]
) -> list[tuple[Gate, str, str]]:
    """The gates at what callers wrote for the target, with the module and scope of each."""
    made = []
    first = archs.find(target).first_cuda
    for one in sorted(found[target].asked if target in found else (), key=lambda one: one.argument.start):
        alike = any(one in found[arch].asked for arch in references if arch in found)
        if one.held or one.assumed < first or alike:
            continue
        verdict: dict[str, Verdict] = {
            arch: "admit" if any(o.held and o.check == one.check for o in told.asked) else "reject"
            for arch, told in found.items()
        }
        verdict[target] = "reject"
        if any(verdict.get(arch) == "admit" for arch in references):
            made.append((_gate(one, verdict, target, first), one.module, one.scope))
    return [*made, *_refusing(found, target, references)]


def _refusing(
    found: Mapping[str, Findings], target: str, references: Sequence[str]
) -> Iterator[tuple[Gate, str, str]]:
    """The gates at raises that the toolkit leads the target to, and no reference."""
    told = found[target].refused if target in found else ()
    for one in sorted(told, key=lambda one: one.site.start):
        verdict = {arch: _refused(one, findings) for arch, findings in found.items()}
        if any(verdict.get(arch) == "admit" for arch in references):
            what = f"{one.code} does not hold of the toolkit that is assumed: asked of {target} alone"
            gate = Gate(
                id="",
                layer="runtime",
                **one.site.span,
                scope=one.scope or "<module>",
                code=one.code,
                verdict=verdict,
                effect="raises",
                message=one.message or None,
                because=(Step(one.check.file, one.check.line, what),),
            )
            yield gate, one.module, one.scope


def _refused(one: Refused, told: Findings) -> Verdict:
    """Whether an architecture passes where the target raises; where it does not come to that is not known."""
    if one in told.refused:
        return "reject"
    function = f"{one.module}.{one.scope}"
    return "admit" if not one.scope or function in told.functions or function in told.outcomes else "unknown"


def _gate(one: Asked, verdict: dict[str, Verdict], target: str, first: Release) -> Gate:
    wanted, assumed, since = (f"{major}.{minor}" for major, minor in (one.wanted, one.assumed, first))
    site = one.argument
    return Gate(
        id="",
        layer="runtime",
        **site.span,
        scope=one.scope or "<module>",
        code=one.code,
        verdict=verdict,
        effect="excluded",
        silent=True,
        because=(
            Step(site.file, site.line, f"wants CUDA {wanted} for {target}, for which CUDA {since} compiles"),
            Step(one.check.file, one.check.line, f"compared with CUDA {assumed}, which is assumed"),
        ),
    )
