"""The JSON Schemas of what is written, derived from the types; a report's is tightened to the contract.

``python -m analyzer.report.schema`` prints it; the result is kept in ``reports/schema-1.json``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from analyzer import model
from analyzer.ci import baseline
from analyzer.ci.baseline import Header
from analyzer.ci.known import Known
from analyzer.report import comparison

_ARCH = {"type": "string", "pattern": "^sm_[1-9][0-9]+$"}
_FILE = {"type": "string", "minLength": 1, "pattern": r"^(?!/)(?!\.\.(/|$))(?!.*/\.\.(/|$))"}
_LINE = {"type": "integer", "minimum": 1}

#: Fields that the contract does not promise: absent from reports of other or older writers.
_BEYOND_CONTRACT = {
    "Gate": {"message", "order", "parts", "admits", "negated", "in_tests"},
    "Predicate": {"end_line"},
    "Unresolved": {"blocks"},
    "Coverage": {"read"},
}
#: Mappings from an architecture, by type and field.
_BY_ARCH = {
    "Gate": ("verdict",),
    "BuildVerdict": ("verdict",),
    "Part": ("value",),
    "Predicate": ("value",),
    "Build": ("outcome", "message", "spelling", "flags"),
    "Cell": ("status", "chosen", "reasons"),
}
_TIGHTER: dict[tuple[str, str], dict[str, Any]] = {
    ("Report", "schema_version"): {"const": model.SCHEMA_VERSION},
    ("Report", "references"): {"items": _ARCH, "uniqueItems": True},
    ("Report", "archs"): {"items": _ARCH, "uniqueItems": True, "minItems": 1},
    ("Target", "arch"): _ARCH,
    ("Target", "capability"): {"pattern": "^[0-9]+[.][0-9]$"},
    ("Target", "cuda"): {"pattern": "^[0-9]+[.][0-9]+$"},
    ("Gate", "id"): {"minLength": 1},
    ("Gate", "end_line"): _LINE,
    ("Gate", "column"): {"minimum": 1},
    ("Gate", "count"): {"minimum": 1},
    ("Gate", "order"): {"minimum": 0},
    ("Node", "id"): {"minLength": 1},
    ("Path", "steps"): {"minItems": 1},
}


def build() -> dict[str, Any]:
    """The schema as a mapping; a pure function of :mod:`analyzer.model`."""
    schema = msgspec.json.schema(model.Report)
    for name, definition in schema["$defs"].items():
        _tighten(name, definition)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:smgate:report:{model.SCHEMA_VERSION}",
        "title": "smgate report",
        **schema,
    }


def _tighten(name: str, definition: dict[str, Any]) -> None:
    """Add to one type what its annotations cannot say: patterns, bounds, required fields."""
    properties = definition["properties"]
    definition["required"] = [field for field in properties if field not in _BEYOND_CONTRACT.get(name, ())]
    for field, rule in properties.items():
        if field == "line":
            rule.update(_LINE)
        if field == "file":
            rule.update(_FILE)
        if field in _BY_ARCH.get(name, ()):
            rule["propertyNames"] = _ARCH
        rule.update(_TIGHTER.get((name, field), {}))
    if name == "Build":
        properties["sources"]["items"] = _FILE


def _of(kinds: Sequence[type], name: str, version: str) -> dict[str, Any]:
    """The schema of values of one of these kinds."""
    some, definitions = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:smgate:{name}:{version}",
        "title": f"smgate {name}",
        "anyOf": list(some),
        "$defs": definitions,
    }


#: Everything that is written as JSON, by name; a baseline line by line, the first line being a header.
NAMES: dict[str, Callable[[], dict[str, Any]]] = {
    "report": build,
    "check": lambda: _of([comparison.Check], "check", comparison.VERSION),
    "diff": lambda: _of([comparison.Difference], "diff", comparison.VERSION),
    "history": lambda: _of([comparison.Releases], "history", comparison.VERSION),
    "baseline": lambda: _of([Header, Known], "baseline", str(baseline.VERSION)),
}


def text(name: str = "report") -> str:
    """A schema as text; that of a report is kept in ``reports/schema-1.json``."""
    return json.dumps(NAMES[name](), indent=2) + "\n"


if __name__ == "__main__":
    print(text(), end="")
