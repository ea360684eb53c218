"""The values of evaluated names: as a table for people, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from analyzer.report.source import one_line

#: Value by name and architecture; ``{"unknown": reason}`` if undecided, ``{"raises": text}`` if it raises.
Results = Mapping[str, Mapping[str, Any]]


def as_json(results: Results) -> str:
    """The results as they are, in the order of names and architectures."""
    return json.dumps(results, indent=2, ensure_ascii=False) + "\n"


def as_text(results: Results) -> str:
    """One paragraph for each name: each value once, with its architectures."""
    return "\n".join(_paragraph(name, values) for name, values in results.items())


def _paragraph(name: str, values: Mapping[str, Any]) -> str:
    groups: dict[str, list[str]] = {}
    for arch, value in values.items():
        groups.setdefault(one_line(_shown(value)), []).append(arch)
    width = max(map(len, groups), default=0)
    lines = [f"  {shown:<{min(width, 40)}}  {' '.join(archs)}" for shown, archs in groups.items()]
    return "\n".join([one_line(name), *lines]) + "\n"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping) and len(value) == 1:
        (kind, text), *_ = value.items()
        if kind in ("unknown", "raises"):
            return f"{kind}: {text}"
    return json.dumps(value, ensure_ascii=False)
