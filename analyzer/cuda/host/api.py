"""How host code asks for the GPU and refuses, from ``queries/host_api.toml``."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from analyzer import data


class Attribute(NamedTuple):
    """A call that writes an attribute of the device."""

    out: int
    key: int
    values: dict[str, str]


class Check(NamedTuple):
    """A call that fails unless its condition holds, or a comparison of its first two arguments."""

    condition: int
    compare: str


@cache
def attributes() -> dict[str, Attribute]:
    """The calls that write an attribute of the device, by name."""
    rows = _rows("attribute")
    return {name: Attribute(row["out"], row["key"], row["values"]) for row in rows for name in row["call"]}


@cache
def property_types() -> dict[str, frozenset[str]]:
    """The types that hold properties of the device, each with the members that are known."""
    return {row["type"]: frozenset(row["members"]) for row in _rows("properties")}


@cache
def property_calls() -> frozenset[str]:
    """The functions that give a pointer to such an object."""
    return frozenset(name for row in _rows("properties") for name in row["call"])


@cache
def property_members() -> frozenset[str]:
    """The known members of such objects."""
    return frozenset(member for members in property_types().values() for member in members)


@cache
def doors() -> frozenset[str]:
    """The words by one of which every answer about the device enters a program."""
    keys = (key for row in _rows("attribute") for key in row["values"])
    return frozenset([*keys, *property_types(), *property_calls()])


@cache
def checks() -> dict[str, Check]:
    """The calls that fail unless a condition holds, by name."""
    return {
        name: Check(row.get("condition", 0), row.get("compare", ""))
        for row in _rows("check")
        for name in row["name"]
    }


@cache
def stops() -> frozenset[str]:
    """The calls after which nothing runs."""
    return frozenset(name for row in _rows("stop") for name in row["name"])


@cache
def refusals() -> frozenset[str]:
    """The values that a function returns when it refuses."""
    return frozenset(name for row in _rows("status") for name in row["name"])


def _rows(kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data.table("host_api")[kind]
    return found
