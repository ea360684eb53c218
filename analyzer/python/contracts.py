"""What libraries do by habit, as data: which classes are builds, which calls load them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from analyzer import data


@dataclass(frozen=True, slots=True)
class BuildClass:
    """A class whose objects describe one build; the other fields name its attributes and methods.

    ``commands``: a method that gives the compiler's command lines; ``script``: one that writes a script with
    them, for releases that have no such method. ``loads``: methods that build and load it.
    """

    path: str
    name: str
    sources: str
    flags: str
    commands: str
    script: str
    loads: frozenset[str]


@cache
def builds() -> dict[str, BuildClass]:
    """Build classes by dotted path."""
    return {
        path: BuildClass(
            path,
            row["name"],
            row["sources"],
            row["flags"],
            row["commands"],
            row["script"],
            frozenset(row["loads"]),
        )
        for row in data.table("contracts").get("build", [])
        for path in row["classes"]
    }


@cache
def loads() -> frozenset[str]:
    """Dotted paths of the methods that give a loaded build."""
    return frozenset(f"{build.path}.{method}" for build in builds().values() for method in build.loads)


@cache
def tracing() -> frozenset[str]:
    """The packages that hold them, with the operations of their kernel languages."""
    return frozenset(path.partition(".")[0] for path in traced())


@cache
def traced() -> Mapping[str, frozenset[str]]:
    """Functions outside the tree that run what they are given first, on the arguments after it.

    With each, the keywords that are its own.
    """
    rows = data.table("contracts").get("traces", [])
    return {row["function"]: frozenset(row["keywords"]) for row in rows}


@cache
def given_back() -> frozenset[str]:
    """Functions outside the tree that give back what they are given."""
    return frozenset(data.table("contracts")["given_back"]["functions"])


@cache
def pins() -> Mapping[str, int]:
    """Functions outside the tree that pin a compilation, with the place of what names the architecture."""
    return {row["function"]: row["argument"] for row in data.table("contracts").get("pins", [])}


@cache
def pin_words() -> frozenset[str]:
    """Their last names."""
    return frozenset(path.rpartition(".")[2] for path in pins())


@cache
def collectors() -> frozenset[str]:
    """Functions that list builds to be made ahead of time, not on demand."""
    return frozenset(row["collector"] for row in data.table("contracts").get("ahead_of_time", []))


@cache
def makers() -> frozenset[str]:
    """Functions that make a build from what they are given: helpers, not builds of their own."""
    return frozenset(maker for row in data.table("contracts").get("build", []) for maker in row["makers"])


@cache
def build_words() -> frozenset[str]:
    """The last names of what makes builds: where they occur, builds may be made."""
    found: set[str] = set()
    for row in data.table("contracts").get("build", []):
        found.update(path.rpartition(".")[2] for path in row["classes"])
        found.update(maker.rpartition(".")[2] for maker in row["makers"])
    return frozenset(found)


@cache
def choosers() -> frozenset[str]:
    """Names of parameters by which a caller chooses a back end."""
    return frozenset(data.table("contracts")["choice"]["parameters"])


@cache
def backend_tables() -> tuple[str, ...]:
    """Names under which decorators keep the table of back ends that a function declares."""
    return tuple(row["backends"] for row in data.table("contracts").get("declares", []))


@cache
def chosen_attributes() -> tuple[str, ...]:
    """Attributes of a decorated function in which an automatic choice is kept, best first."""
    return tuple(row["chosen"] for row in data.table("contracts").get("declares", []) if "chosen" in row)


@cache
def image_loads() -> frozenset[str]:
    """Functions of the driver by which a program loads device images that were made elsewhere."""
    return frozenset(data.table("contracts")["images"]["loads"])


@cache
def device_modules() -> frozenset[str]:
    """Top modules of packages that decide by architecture themselves."""
    return frozenset(data.table("contracts")["outside"]["modules"])


@cache
def api_marks() -> frozenset[str]:
    """The last names of decorators that mark a function as a public API."""
    return frozenset(row["decorator"].rpartition(".")[2] for row in data.table("contracts").get("api", []))
