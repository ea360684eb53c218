"""Data for the page's script: the steps of every path with caption and place, layouts still to be drawn."""

from __future__ import annotations

from analyzer.report.anchors import entry_anchor, gate_anchor, path_anchor
from analyzer.report.gallery import Picture, gate_name, label, short
from analyzer.report.page import Page
from analyzer.report.source import one_line

_NAME = 200
"""Characters of a name; the page itself holds it in full."""


def script_data(page: Page) -> dict[str, object]:
    """``target``, ``steps`` and ``paths``; text is safe to show, indices point into ``steps``.

    A step is ``[kind, name, label in the picture, place, anchor of its code]``; a gate, whose card says the
    rest, is ``[kind, name, label, anchor of the card]``. A label that is the name is empty. A path has the
    indices of its steps and, where its picture does not stand in the page, ``boxes`` (index, x, y, number of
    the barrier or 0: four numbers a box) and ``links`` (from box, to box: two numbers a link). So has an
    entry with several ways.
    """
    index: dict[str, int] = {}
    for path in page.drawn:
        for step in path.steps:
            index.setdefault(step, len(index))
    paths: dict[str, object] = {}
    for path in page.drawn:
        entry: dict[str, object] = {"steps": [index[step] for step in dict.fromkeys(path.steps)]}
        picture = page.pictures[path.id]
        if not picture.inline:
            entry |= {"boxes": _boxes(picture, index), "links": [i for link in picture.links for i in link]}
        paths[path_anchor(path.id)] = entry
    for name, picture in page.wholes.items():
        drawn = {"boxes": _boxes(picture, index), "links": [i for link in picture.links for i in link]}
        paths[entry_anchor(name)] = drawn
    return {"target": page.target, "steps": [_step(page, step) for step in index], "paths": paths}


def _boxes(picture: Picture, index: dict[str, int]) -> list[int]:
    return [value for v in picture.vertices for value in (index[v.step], v.x, v.y, v.number)]


def _step(page: Page, identity: str) -> list[str]:
    gate = page.gates.get(identity)
    if gate is not None:
        name = gate_name(gate)
        return [f"{gate.layer} gate", *_named(name, label(name, True)), gate_anchor(identity)]
    node = page.nodes.get(identity)
    if node is None:
        return ["", *_named(identity, label(identity)), "", ""]
    named = _named(node.name, label(short(node)))
    place, code = one_line(f"{node.file}:{node.line}"), page.code.anchor(node.file, node.line)
    return [one_line(node.kind), *named, place, code]


def _named(name: str, drawn: str) -> tuple[str, str]:
    whole = one_line(name, _NAME)
    return whole, "" if drawn == whole else drawn
