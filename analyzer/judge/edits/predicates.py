"""Which names tell the target apart as the names in a condition tell the references apart."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from analyzer import archs
from analyzer.model import Gate, Predicate, Report

_TRUE = ("true", "True")
_FALSE = ("false", "False")


def module_of(file: str) -> str:
    """The dotted module of a Python file."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@dataclass(slots=True)
class Predicates:
    """The predicates of a report, asked about the target."""

    report: Report
    by_name: dict[str, Predicate] = field(init=False)
    by_last: dict[str, list[Predicate]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_name = {predicate.name: predicate for predicate in self.report.predicates}
        self.by_last = {}
        for predicate in self.report.predicates:
            self.by_last.setdefault(predicate.name.rpartition(".")[2], []).append(predicate)

    @property
    def target(self) -> str:
        """The architecture in question."""
        return self.report.target.arch

    def rejects(self, predicate: Predicate) -> bool:
        """Whether it is false on the target and not on some reference."""
        values = predicate.value
        return values.get(self.target) in _FALSE and any(
            values.get(arch) not in (*_FALSE, None) for arch in self.report.references
        )

    def names_target(self, predicate: Predicate) -> bool:
        """Whether it is true on the target, and on no architecture of another generation."""
        major = archs.find(self.target).major
        return predicate.value.get(self.target) in _TRUE and all(
            value in _FALSE for arch, value in predicate.value.items() if archs.find(arch).major != major
        )

    def sibling(self, known: Predicate) -> Predicate | None:
        """The predicate beside a known one (same module or class) that names the target."""
        owner, _, name = known.name.rpartition(".")
        beside = [
            predicate
            for predicate in self.report.predicates
            if predicate.name.rpartition(".")[0] == owner
            and predicate.file == known.file
            and self.names_target(predicate)
        ]
        return max(beside, key=lambda one: (_likeness(one.name, name), one.name), default=None)

    def imported(self, name: str, origins: Iterable[str]) -> Predicate | None:
        """The predicate of that last name whose module is nearest to one that it may come from."""
        candidates = self.by_last.get(name, ())
        wanted = [origin.split(".") for origin in origins]

        def shared(predicate: Predicate) -> int:
            parts = predicate.name.split(".")[:-1]
            return max((_common(parts, origin) for origin in wanted), default=0)

        best = max(candidates, key=lambda one: (shared(one), one.name), default=None)
        return best if best is not None and shared(best) else None

    def flags(self, gate: Gate) -> Iterator[str]:
        """Local names that the gates of the same scope show to be true on the target's generation alone."""
        major = archs.find(self.target).major
        for other in self.report.gates:
            if other.file != gate.file or other.scope != gate.scope or other.negated:
                continue
            passing = [arch for arch, verdict in other.verdict.items() if verdict != "reject"]
            alone = all(archs.find(arch).major == major for arch in passing)
            if other.code.isidentifier() and self.target in passing and alone:
                yield other.code


def _likeness(dotted: str, name: str) -> float:
    return difflib.SequenceMatcher(None, dotted.rpartition(".")[2], name).ratio()


def _common(left: list[str], right: list[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )


def bound(tree: ast.AST, name: str) -> list[ast.expr | None]:
    """What a name is bound to inside a module or function; None for anything but a plain assignment."""
    plain: list[ast.expr | None] = []
    stores = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets: list[ast.expr] = node.targets
            value: ast.expr | None = node.value
        elif isinstance(node, ast.AnnAssign):
            targets, value = [node.target], node.value
        else:
            # An assignment is met a second time, as the name that it stores to.
            stores += isinstance(node, ast.arg) and node.arg == name
            stores += isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
            continue
        plain += [value for target in targets if isinstance(target, ast.Name) and target.id == name]
    return plain if stores == len(plain) else [*plain, None]
