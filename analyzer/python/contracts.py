"""What libraries do by habit, as data: which classes are builds, which calls load them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from analyzer import data

NAME, SOURCES, TARGETS = "name", "sources", "targets"
"""Attributes of what is compiled and loaded at once; its flags have the name of their parameter."""


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
    """Build classes by dotted path, with those of what functions give that compile at once."""
    at_once = {
        one.path: BuildClass(one.path, NAME, SOURCES, one.flags, "", "", frozenset())
        for one in compilers().values()
    }
    return at_once | {
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


@dataclass(frozen=True, slots=True)
class Compiler:
    """A function that compiles sources and gives the loaded module at once.

    The fields up to ``pairs`` name parameters: ``positional`` in their order; ``files`` and ``texts`` hold
    sources, by path and as they are; ``flags`` the compiler's, ``folders`` to be searched for headers;
    ``functions`` what is exported beside what the sources say themselves, ``pairs`` the same with the C++
    expression of each: then the files are included by a source that exports them. ``exported`` is how an
    export is spelled, ``around`` what is put around them; ``within`` are dotted names in the tree of the
    folder that files are relative to, ``asked`` of flags and of functions that give flags, ``searched`` of
    lists of folders. ``variable`` lists the architectures; else the host's own is compiled for; neither where
    a flag holds ``unless``. ``device`` are the suffixes of sources for the device.
    """

    path: str
    positional: tuple[str, ...]
    files: tuple[str, ...]
    texts: tuple[str, ...]
    flags: str
    folders: str
    functions: str
    pairs: str
    exported: str
    around: str
    within: str
    below: str
    asked: tuple[str, ...]
    searched: tuple[str, ...]
    variable: str
    unless: str
    device: tuple[str, ...] = (".cu", ".cuh")


@cache
def compilers() -> Mapping[str, Compiler]:
    """Functions that compile at once, by dotted path."""
    return {
        path: Compiler(
            path,
            tuple(row["positional"]),
            tuple(row.get("files", ())),
            tuple(row.get("texts", ())),
            row["flags"],
            row["folders"],
            row.get("functions", ""),
            row.get("pairs", ""),
            row.get("exported", ""),
            row.get("around", "{exports}"),
            row.get("within", ""),
            row.get("below", ""),
            tuple(row.get("asked", ())),
            tuple(row.get("searched", ())),
            row.get("variable", ""),
            row.get("unless", ""),
        )
        for row in data.table("contracts").get("compiles", [])
        for path in row["functions_of"]
    }


@cache
def asked() -> Mapping[str, tuple[str, ...]]:
    """By module of the tree, the names in it that tell of builds that are compiled at once."""
    found: dict[str, dict[str, None]] = {}
    for one in compilers().values():
        for dotted in (*one.asked, *one.searched, one.within):
            path, call, rest = dotted.partition("().")
            module, _, name = path.rpartition(".")
            if name:
                found.setdefault(module, {})[f"{name}{call}{rest}"] = None
    return {module: tuple(names) for module, names in found.items()}


@dataclass(frozen=True, slots=True)
class Registry:
    """A class whose objects are entries of a registry, which say on which devices they may be used.

    ``argument`` says so, ``name`` is what it serves, ``leads_to`` the code; ``method`` tells of a platform
    whether it may be used there, ``platform`` is a function of the tree that gives the host's.
    """

    path: str
    argument: str
    name: str
    leads_to: str
    method: str
    platform: str


@cache
def registries() -> Mapping[str, Registry]:
    """Classes of entries by dotted path."""
    return {
        path: Registry(path, row["argument"], row["name"], row["leads_to"], row["method"], row["platform"])
        for row in data.table("contracts").get("registry", [])
        for path in row["classes"]
    }


@dataclass(frozen=True, slots=True)
class Claim:
    """A decorator by which a function says on which devices it may be used.

    ``argument`` says so; ``method`` of the decorated function tells of a capability, major * 10 + minor.
    """

    argument: str
    method: str


@cache
def claims() -> Mapping[str, Claim]:
    """Such decorators by dotted path."""
    return {
        row["decorator"]: Claim(row["argument"], row["method"]) for row in data.table("contracts")["claims"]
    }


@cache
def registry_words() -> frozenset[str]:
    """The last names of classes of entries and of decorators that claim."""
    return frozenset(path.rpartition(".")[2] for path in (*registries(), *claims()))


@cache
def caches() -> frozenset[str]:
    """Decorators of the tree that keep what a function gives, by its arguments."""
    return frozenset(data.table("contracts")["caches"]["decorators"])


@cache
def records() -> frozenset[str]:
    """Classes outside the tree whose subclasses have a constructor made from their annotated fields."""
    return frozenset(data.table("contracts")["records"]["bases"])


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
    for row in data.table("contracts").get("compiles", []):
        found.update(row["words"])
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


@dataclass(frozen=True, slots=True)
class OptionField:
    """What stands in the annotation of a field that declares a server option: names of its arguments.

    ``hidden``: given where no user sets the option.
    """

    choices: str
    name: str
    hidden: str


@cache
def option_fields() -> dict[str, OptionField]:
    """By the last name of what stands in such an annotation."""
    return {
        row["metadata"].rpartition(".")[2]: OptionField(row["choices"], row["name"], row["hidden"])
        for row in data.table("contracts").get("option_field", [])
    }
