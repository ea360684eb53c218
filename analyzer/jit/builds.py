"""The builds of a tree: described by the Python that makes them, on every architecture."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.cuda.made import MadeSource
from analyzer.jit.commands import Command, parse
from analyzer.jit.instances import instances
from analyzer.jit.made import made_sources
from analyzer.model import Build, Outcome, Unresolved
from analyzer.python import contracts
from analyzer.python.contents import Content
from analyzer.python.library import HOLE
from analyzer.python.machine import STEPS, Budget
from analyzer.python.modules import ROOT
from analyzer.python.survey import Survey
from analyzer.python.values import Choice, Dict, Instance, List, Loaded, Raised, Site, Value

_INCLUDED = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BuildSeen:
    """One build on one host. ``sources``: tree-relative, or with a hole where a part is not known."""

    function: str
    site: Site
    outcome: Outcome
    message: str
    name: str
    sources: tuple[str, ...]
    commands: tuple[tuple[str, Command], ...]
    """Source file and what its command line says."""
    made: tuple[tuple[str, Content], ...] = ()
    """Sources that it makes of files of the tree, with what it puts beside them, by path."""
    given: str = ""
    """Where it is one of many that are made to measure: with what it was made."""


def collect(survey: Survey) -> dict[str, BuildSeen]:
    """The builds that functions give on one host, by the function's dotted name."""
    found: dict[str, BuildSeen] = {}
    for (module, qualname), walked in survey.walked.items():
        function = survey.machine.defined[module][qualname]
        dotted = function.dotted
        if walked.raised is not None:
            found[dotted] = BuildSeen(dotted, walked.site, "raises", walked.raised.message, "", (), ())
            continue
        if walked.value is None or dotted in survey.machine.helping or dotted in contracts.compilers():
            continue
        options = walked.value.data.options if isinstance(walked.value.data, Choice) else (walked.value,)
        builds = [option for option in options if _contract(option) is not None and _is_its(option, dotted)]
        if builds:
            found[dotted] = _described(survey, dotted, walked.site, builds, survey.machine.written)
    return {
        dotted: seen if _known(seen) else _to_measure(survey, seen) or seen for dotted, seen in found.items()
    }


def _is_its(build: Value, dotted: str) -> bool:
    """Whether a function makes a build, and does not only give on a module that another has loaded."""
    return not isinstance(build.data, Loaded) or build.data.maker == dotted


def _known(seen: BuildSeen) -> bool:
    """Whether it is known of some source which it is; or of none, since it is not made."""
    return seen.outcome != "ok" or any(HOLE not in path for path in seen.sources)


def _to_measure(survey: Survey, seen: BuildSeen) -> BuildSeen | None:
    """An instance of a build whose sources hang on what it is made with.

    The first that is compiled for the host at hand; else the first.
    """
    pinned: BuildSeen | None = None
    m = survey.machine
    module = max((name for name in m.defined if seen.function.startswith(f"{name}.")), key=len, default="")
    function = m.defined.get(module, {}).get(seen.function[len(module) + 1 :])
    for one in instances(m, function) if function is not None else ():
        if _contract(one.value) is not None:
            made = _described(survey, seen.function, seen.site, [one.value], one.written)
            if not _known(made):
                continue
            made = replace(made, name=seen.name, given=one.given)
            if not _pinned(one.value):
                return made
            pinned = pinned or made
    return pinned


def _pinned(build: Value) -> bool:
    """Whether a build's own flags name architectures."""
    contract = _contract(build)
    return contract is not None and bool(parse(_texts(build, contract.flags)).spellings)


def _contract(value: Value) -> contracts.BuildClass | None:
    data = value.data
    if isinstance(data, Instance):
        return contracts.builds().get(f"{data.of.module}.{data.of.qualname}")
    return None


def _described(
    survey: Survey,
    dotted: str,
    site: Site,
    builds: Sequence[Value],
    written: Mapping[str, Content | str | None],
) -> BuildSeen:
    sources: dict[str, None] = {}
    commands: dict[str, Command] = {}
    # What Python writes is told of where this function does, and so is a source of its own.
    own = {
        f"/{dotted}{path}": replace(content, origin=site.file, line=site.line)
        for path, content in written.items()
        if isinstance(content, Content) and content.text
    }
    written = {**written, **own}
    name = ""
    for value in builds:
        contract = _contract(value)
        assert contract is not None
        instance = value.data
        title = instance.attributes.get(contract.name)
        if title is not None and isinstance(title.data, str):
            name = title.data
        for path in _paths(instance.attributes.get(contract.sources)):
            sources.setdefault(f"/{dotted}{path}" if f"/{dotted}{path}" in own else path)
        commands.update(_commands(survey, value, contract))
    return BuildSeen(
        dotted,
        site,
        "ok",
        "",
        name or dotted.rpartition(".")[2],
        tuple(sources),
        tuple(sorted(commands.items())),
        tuple(_made(written, sources)),
    )


def _made(
    written: Mapping[str, Content | str | None], sources: Iterable[str]
) -> Iterator[tuple[str, Content]]:
    """What is written where sources lie that are not in the tree."""
    folders = {path.rpartition("/")[0] for path in sources if path.startswith("/")}
    for path, content in sorted(written.items()):
        if isinstance(content, Content) and path.rpartition("/")[0] in folders:
            yield path, content


def _paths(value: Value | None) -> list[str]:
    """The paths that a list holds; a hole for what is not known of it."""
    if value is None or not isinstance(value.data, List):
        return [HOLE]
    found = [HOLE] if value.data.open else []
    for item in value.data.items:
        text = str(item.data) if isinstance(item.data, (str, PurePosixPath)) else HOLE
        found.append(text.removeprefix(ROOT))
    return found


def _commands(survey: Survey, build: Value, contract: contracts.BuildClass) -> dict[str, Command]:
    """What the command lines of a build say, by source; from its flags alone where they are not known."""
    if isinstance(build.data, Loaded):
        if build.data.attributes[contracts.TARGETS].data.open:
            return {}
        words = _texts(build, contract.flags) + _texts(build, contracts.TARGETS)
    elif found := _listed_commands(survey, _with_few_sources(build, contract), contract):
        return found
    else:
        words = _scripted(survey, build, contract) or _texts(build, contract.flags)
    return {path: parse(words) for path in _paths(build.data.attributes.get(contract.sources))}


def _texts(build: Value, attribute: str) -> list[str]:
    """The texts in the list that an attribute of a build holds."""
    listed = build.data.attributes.get(attribute)
    items = listed.data.items if listed is not None and isinstance(listed.data, List) else []
    return [item.data for item in items if isinstance(item.data, str)]


def _listed_commands(survey: Survey, build: Value, contract: contracts.BuildClass) -> dict[str, Command]:
    """The command lines that the build's own method gives."""
    found: dict[str, Command] = {}
    result = _asked(survey, build, contract.commands)
    for entry in result.data.items if result is not None and isinstance(result.data, List) else []:
        if not isinstance(entry.data, Dict):
            continue
        fields = {key: value.data for key, (_, value) in entry.data.items.items()}
        if isinstance(fields.get("file"), str) and isinstance(fields.get("command"), str):
            found[fields["file"].removeprefix(ROOT)] = parse([fields["command"]])
    return found


def _scripted(survey: Survey, build: Value, contract: contracts.BuildClass) -> list[str]:
    """The words of the script that the build writes: flags stand in it as they do on a command line."""
    m = survey.machine
    outer, m.written = m.written, {}
    try:
        _asked(survey, build, contract.script)
        texts = [text for text in m.written.values() if isinstance(text, str)]
    finally:
        m.written = outer
    return [text.replace("$\n", " ") for text in texts]


def _asked(survey: Survey, build: Value, method: str) -> Value | None:
    """What a method of a build gives, texts with parts that are not known among it; None if it raises."""
    m = survey.machine
    m.steps = 0
    site = Site("", 1, 1, 1)
    follow, m.follow = m.follow, lambda *_: STEPS
    try:
        with m.aside():
            m.holes = True
            return m.call(m.attribute(build, method, site), [], {}, site)
    except (Raised, Budget):
        return None
    finally:
        m.holes, m.follow = False, follow


#: Of how many sources the command lines are asked for.
_COMMANDS = 16


def _with_few_sources(build: Value, contract: contracts.BuildClass) -> Value:
    """The build; one with very many sources as it would be with a few of each kind of them."""
    listed = build.data.attributes.get(contract.sources)
    if listed is None or not isinstance(listed.data, List) or len(listed.data.items) <= _COMMANDS:
        return build
    kept: dict[str, Value] = {}
    for item in sorted(listed.data.items, key=lambda item: str(item.data)):
        kept.setdefault(PurePosixPath(str(item.data)).suffix, item)
    few = Value(List(list(kept.values()), listed.data.depth, listed.data.open), listed.source)
    attributes = {**build.data.attributes, contract.sources: few}
    return Value(Instance(build.data.of, attributes, build.data.symbolic), build.source)


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """One build over all architectures, with what the CUDA side needs of it.

    ``command``: by architecture, what its first source's command line says; ``spelling``: how each
    architecture is (or, where the build raises, would be) named to the compiler. ``sources`` are the files
    that it compiles, those of the tree and those that it makes (``made``, with headers that it makes).
    """

    build: Build
    command: Mapping[str, Command]
    spelling: Mapping[str, Spelling]
    sources: tuple[str, ...] = ()
    made: tuple[MadeSource, ...] = ()


def plan(
    seen: Mapping[str, Mapping[str, BuildSeen]], known: set[str], read: Callable[[str], str]
) -> tuple[tuple[BuildPlan, ...], tuple[Unresolved, ...]]:
    """Merge what the hosts saw into builds.

    Args:
        seen: architecture to the builds that :func:`collect` found there.
        known: the files of the tree.
        read: the text of one of them.
    """
    functions = sorted(
        {name for builds in seen.values() for name, b in builds.items() if b.outcome == "ok"}
        - contracts.makers()
    )
    usual = _usual_spellings(seen)
    plans: list[BuildPlan] = []
    unresolved: list[Unresolved] = []
    for function in functions:
        rows = {arch: builds[function] for arch, builds in seen.items() if function in builds}
        good = {arch: row for arch, row in rows.items() if row.outcome == "ok"}
        first = next(iter(good.values()))
        outcome: dict[str, Outcome] = {}
        message: dict[str, str] = {}
        for arch in seen:
            row = rows.get(arch)
            outcome[arch] = row.outcome if row is not None else "unknown"
            if row is not None and row.outcome == "raises":
                message[arch] = row.message
        sources = tuple(dict.fromkeys(path for row in good.values() for path in row.sources))
        contents = _contents(good.values())
        made, failed = made_sources([path for path in sources if path in contents], contents, read)
        compiled = {one.path: one.origin for one in made if one.path in sources}
        present = tuple(
            dict.fromkeys(
                file
                for path in sources
                if path in known or path in compiled
                for file in ([path] if path in known else _told(contents[path], known))
            )
        )
        absent = [
            path.replace(HOLE, "…")
            for path in sources
            if path not in known and (path not in contents or path in failed)
        ]
        if absent:
            what = f"{len(absent)} of {len(sources)} sources of {first.name}: {', '.join(absent[:3])}"
            why = "sources that are made when the build runs, or whose names are not fully known"
            unresolved.append(Unresolved(first.site.file, first.site.line, what, why))
        if present and not all(row.commands for row in good.values()):
            why = "what it is compiled for, or with which flags, is not known"
            unresolved.append(Unresolved(first.site.file, first.site.line, first.name, why))
        commands = {arch: row.commands[0][1] for arch, row in good.items() if row.commands}
        spelling: dict[str, Spelling] = {}
        written: dict[str, tuple[str, ...]] = {}
        for arch in seen:
            number = archs.find(arch).number
            own = list(commands[arch].spellings) if arch in commands else []
            written[arch] = tuple(str(s) for s in own)
            fitting = [s for s in own if s.number == number] or [usual.get(arch, archs.find(arch).richest)]
            spelling[arch] = fitting[0]
        build = Build(
            name=first.name,
            function=function,
            file=first.site.file,
            line=first.site.line,
            outcome=outcome,
            message=message,
            sources=present,
            spelling={arch: value for arch, value in written.items() if value},
            flags={
                arch: tuple(f"-D{n}={v}" if v != "1" else f"-D{n}" for n, v in command.defines)
                for arch, command in commands.items()
            },
            given=first.given,
        )
        units = tuple(path for path in sources if path in known or path in compiled)
        plans.append(BuildPlan(build, commands, spelling, units, made))
    return _distinct(plans), tuple(unresolved)


def _told(content: Content, known: set[str]) -> list[str]:
    """What people are told that a source is made of: of a text that Python writes, the files it includes."""
    included = [path for path in _INCLUDED.findall(content.text or "") if path in known]
    return included or [content.origin]


def _contents(rows: Iterable[BuildSeen]) -> dict[str, Content]:
    """What the build writes; nothing that it writes in two ways."""
    found: dict[str, Content] = {}
    other: set[str] = set()
    for row in rows:
        for path, content in row.made:
            if found.setdefault(path, content) != content:
                other.add(path)
    return {path: content for path, content in found.items() if path not in other}


def _distinct(plans: list[BuildPlan]) -> tuple[BuildPlan, ...]:
    """Builds that bear one name are told apart by their function."""
    import msgspec

    counts = Counter(plan.build.name for plan in plans)
    return tuple(
        plan
        if counts[plan.build.name] == 1
        else replace(
            plan,
            build=msgspec.structs.replace(
                plan.build, name=f"{plan.build.name} ({plan.build.function.rpartition('.')[2]})"
            ),
        )
        for plan in plans
    )


def _usual_spellings(seen: Mapping[str, Mapping[str, BuildSeen]]) -> dict[str, Spelling]:
    """How the builds of the tree that do compile for an architecture mostly name it."""
    usual: dict[str, Spelling] = {}
    for arch, builds in seen.items():
        number = archs.find(arch).number
        votes = Counter(
            spelling
            for build in builds.values()
            for _, command in build.commands
            for spelling in command.spellings
            if spelling.number == number
        )
        if votes:
            usual[arch] = max(sorted(votes, key=str), key=lambda spelling: votes[spelling])
    return usual


def usual_defines(plans: Iterable[BuildPlan]) -> dict[str, dict[str, str]]:
    """What most builds define for an architecture, by its name: the macros whose values follow it.

    With these a build is supposed to be made for an architecture on which it is not made.
    """
    votes: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for plan in plans:
        for arch, command in plan.command.items():
            for name, value in command.defines:
                votes[name][arch][value] += 1
    usual: dict[str, dict[str, str]] = defaultdict(dict)
    for name, by_arch in votes.items():
        most = {arch: max(sorted(counts), key=counts.__getitem__) for arch, counts in by_arch.items()}
        if len(set(most.values())) > 1:
            for arch, value in most.items():
                usual[arch][name] = value
    return usual
