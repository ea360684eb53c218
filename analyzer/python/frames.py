"""What is being run: a module as it stands, and a running function, class body or module."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from analyzer.python.ends import Ended, Loop
from analyzer.python.modules import Source
from analyzer.python.values import Class, Function, List, Raised, Scope, Site, Value, Written


@dataclass(slots=True)
class ModuleState:
    """A module of the tree as it stands on this machine."""

    source: Source
    scope: Scope
    done: bool = False
    held: dict[str, dict[Any, tuple[Value, Value]]] = field(default_factory=dict)
    """What its mappings of functions and classes hold by its own code alone, by the mapping's name."""

    @property
    def names(self) -> dict[str, Value]:
        """What the module binds."""
        return self.scope.names


@dataclass(slots=True, eq=False)
class Frame:
    """A running function, class body or module."""

    module: ModuleState
    qualname: str
    scope: Scope
    is_module: bool = False
    owner: Class | None = None
    function: Function | None = None
    receiver: Value | None = None
    result: Value | None = None
    returns: list[Ended] = field(default_factory=list)
    handled: Raised | None = None
    loops: list[Loop] = field(default_factory=list)
    trails: list[list[tuple[str, Value | None, Value]]] = field(default_factory=list)
    """For each open ``try``: the names bound in it, with the values before and after."""
    produced: List | None = None
    """What a generator has yielded."""
    supposed: set[ast.AST] = field(default_factory=set)
    """Places at which it was looked what an option would bring that is not set."""
    given: bool = False
    """Some argument that the function was called with carries a device answer."""
    file: str = field(init=False)
    """The file that the code stands in."""
    dotted: str = field(init=False)
    """The dotted name of what runs, as callers know it."""

    def __post_init__(self) -> None:
        source = self.module.source
        self.file = source.file
        stands_for = self.function.stands_for if self.function is not None else None
        self.dotted = stands_for or (f"{source.name}.{self.qualname}" if self.qualname else source.name)

    @property
    def in_class(self) -> bool:
        """Whether it is the body of a class that runs."""
        return self.owner is not None and self.function is None

    def written(self, node: ast.AST) -> Written:
        """An expression or statement of this frame, for a note that outlives it."""
        return Written(node, self.module.source, self.qualname, self.function is not None)

    def site(self, node: ast.AST) -> Site:
        """Where a node stands; kept with the node, which all machines of a process share."""
        known: Site | None = node.__dict__.get("site")
        file = self.file
        if known is not None and (known.file is file or known.file == file):
            return known
        line = getattr(node, "lineno", 0)
        site = Site(file, line, getattr(node, "end_lineno", line) or line, getattr(node, "col_offset", 0) + 1)
        node.__dict__["site"] = site
        return site
