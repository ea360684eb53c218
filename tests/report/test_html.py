"""The page without a browser: complete, self-contained, deterministic, safe, of bearable size."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import msgspec
import pytest

from analyzer import model
from analyzer.ci.marks import Marks, State
from analyzer.model import FileFacts, Justification, Step
from analyzer.report import html, json
from analyzer.report.anchors import gate_anchor, path_anchor
from analyzer.report.formats import FORMATS
from analyzer.report.sheets.sheet import Item, Section, Sheet
from analyzer.report.words import Code
from tests.report import hostile, large, sample


class Reader(HTMLParser):
    """Anchors, links, elements and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.urls: list[str] = []
        self.handlers: list[str] = []
        self.texts: list[str] = []
        self._inside = ""
        self.feed(page)
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = tag
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
            if name in ("src", "href", "action", "srcset", "poster", "data"):
                (self.links if (value or "").startswith("#") else self.urls).append(value or "")

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def page() -> str:
    return html.render(sample.REPORT, sample.source).decode()


@pytest.fixture(scope="module")
def read(page: str) -> Reader:
    return Reader(page)


def test_every_link_has_its_end(read: Reader) -> None:
    assert {link[1:] for link in read.links} <= set(read.ids)


def test_ids_are_unique(read: Reader) -> None:
    assert len(read.ids) == len(set(read.ids))


def test_nothing_comes_from_elsewhere(page: str, read: Reader) -> None:
    assert read.urls == []
    assert not {"link", "iframe", "object", "embed", "img", "base"} & set(read.tags)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", page)


def test_every_gate_and_path_has_its_place(read: Reader) -> None:
    for gate in sample.REPORT.gates:
        assert gate_anchor(gate.id) in read.ids
        assert " ".join(gate.id.split()) in read.text
    for path in sample.REPORT.paths:
        assert path_anchor(path.id) in read.ids


def test_the_first_screen_says_what_matters(page: str, read: Reader) -> None:
    first = Reader(page[: page.index('<section id="findings"')]).text
    for words in (
        "sm_120 loses something at 7 places",
        "RTX PRO 6000 Blackwell",
        "against sm_90 and sm_100, CUDA 12.8",
        "turbine-python 0.6.3",
        "servekit pins turbine-python 0.6.1",
        "3 errors",
        "1 note",
        "3 not understood",
        "servekit --enable-fused-reduce",
        "today sm_120 gets other code, silently (fuse.py:10); with that open,",
        "◐ degraded",
        "? unknown",
    ):
        assert words in first


def test_unknown_is_never_shown_as_supported(page: str) -> None:
    row = page[page.index(">prefill<") :]
    row = row[: row.index("</tr>")]
    assert row.count('class="s unknown t"') == 1
    assert "unknown" not in "".join(re.findall(r'class="s supported[^>]*>([^<]*)', row))


def test_a_cell_leads_to_what_decides_it(page: str) -> None:
    row = page[page.index(">one_shot<") :]
    cell = re.search(r'class="s unsupported t"><a href="#([^"]+)"', row)
    assert cell is not None
    assert cell[1] == gate_anchor(sample.JIT_GATE.id)


def test_an_unknown_cell_names_its_reason(page: str, read: Reader) -> None:
    row = page[page.index(">prefill<") :]
    note = re.search(r'class="s unknown t">\? unknown<sup><a href="#([^"]+)"', row[: row.index("</tr>")])
    assert note is not None
    assert f'id="{note[1]}">unknown: its run is too long to be followed<' in page
    rows = page[page.index(">server options<") :]
    shown = Reader(rows[: rows.index("</table>")]).text
    assert "? unknown on all wide, narrow what lies behind it was not followed" in shown


def test_ways_of_an_entry_are_told_apart() -> None:
    first, second = (
        msgspec.structs.replace(path, entry=sample.PATHS[1].entry, backends=backends)
        for path, backends in zip(sample.PATHS[:2], [("fused",), ("plain", "auto")], strict=True)
    )
    read = Reader(html.render(msgspec.structs.replace(sample.REPORT, paths=(first, second))).decode())
    assert "back end fused → reduce" in read.text
    assert "back end plain, auto → reduce" in read.text


def test_a_build_says_what_keeps_the_target_out(page: str) -> None:
    lifted = Justification("liftable", (Step(sample.JIT, 7, "12 functions read"),))
    gates = tuple(
        msgspec.structs.replace(gate, justification=lifted) if gate is sample.JIT_GATE else gate
        for gate in sample.GATES
    )
    text = html.render(msgspec.structs.replace(sample.REPORT, gates=gates), sample.source).decode()
    row = text[text.index('data-outcome="raises"') :]
    row = Reader(row[: row.index("</tr>")]).text
    assert f"comm.py:{sample.JIT_GATE.line} stops with an error; liftable: 12 functions read" in row


def test_words_that_are_used_are_explained(page: str, read: Reader) -> None:
    for term in ("gate", "guard", "barrier", "liftable", "reference", "what_if"):
        assert f"w-{term}" in read.ids
    assert "#help" in read.links
    assert set(re.findall(r'href="#w-(\w+)"', page)) <= {i[2:] for i in read.ids if i.startswith("w-")}


def test_what_is_new_against_a_baseline_says_so() -> None:
    states: dict[str, State] = {gate.id: "unchanged" for gate in sample.GATES}
    states |= {sample.JIT_GATE.id: "new", sample.WAIT.id: "updated"}
    marks = Marks(states=states, suppressed={sample.TRIGGER.id: "only overlap"})
    sheet = Sheet(
        "sm_120: 1 gate is new",
        ("lead",),
        (
            Section(
                "New or worse",
                (
                    Item(
                        ("it ", Code("is")),
                    ),
                ),
            ),
        ),
    )
    page = html.render(sample.REPORT, sample.source, marks, sheet).decode()
    first = Reader(page[: page.index('<section id="findings"')]).text
    assert "3 errors 2 new" in first
    assert "New or worse (1)" in first
    card = page[page.index(f'id="{gate_anchor(sample.JIT_GATE.id)}"') :]
    assert '|new"' in card[: card.index(">")]
    assert Reader(card[card.index("<summary>") : card.index("</summary>")]).text.startswith(
        "error new sm_120"
    )
    assert "Suppressed: only overlap" in Reader(page).text
    assert "new or known" not in Reader(html.render(sample.REPORT).decode()).text


def test_a_cell_leads_to_a_way_of_its_back_end() -> None:
    path = next(path for path in sample.PATHS if path.barriers and path.entry.kind == "api")
    gate = path.barriers[0].gate
    cell = msgspec.structs.replace(
        sample.MATRIX[0], api=path.entry.name, backend="wide", reasons={"sm_120": (gate,)}
    )
    for backends, end in (
        ((), path_anchor(path.id)),
        (("wide",), path_anchor(path.id)),
        (("plain",), gate_anchor(gate)),
    ):
        way = msgspec.structs.replace(path, backends=backends)
        report = msgspec.structs.replace(sample.REPORT, matrix=(cell,), paths=(way,))
        page = html.render(report).decode()
        assert f'class="s unsupported t"><a href="#{end}"' in page, backends


def test_a_harmless_gate_is_short(page: str) -> None:
    steps = tuple(Step(sample.SERVER, 1 + n, f"step {n}") for n in range(9))
    harmless = msgspec.structs.replace(sample.UNDECIDED, effect="none", parts=(), because=steps)
    report = msgspec.structs.replace(sample.REPORT, gates=(harmless,), paths=(), matrix=())
    read = Reader(html.render(report, sample.source).decode())
    assert "step 5" in read.text
    assert "step 6" not in read.text
    assert f"3 more steps: smgate explain {harmless.file}:{harmless.line}" in read.text
    assert "admit sm_90" in read.text or "unknown sm_80" in read.text


def test_a_finding_shows_values_by_architecture(page: str) -> None:
    card = page[page.index(f'id="{gate_anchor(sample.FUSE_GATE.id)}"') :]
    card = card[: card.index("</details>")]
    assert "<code>batch &gt; 0</code><td class=free>free" in card
    assert "<b>sm_120</b>" in card
    for step in sample.CHAIN:
        assert f"line {step.line}<" in card or f"{step.file}:{step.line}<" in card


def test_a_finding_says_what_opens_it(page: str, read: Reader) -> None:
    assert "(90, 100) → (90, 100, 120)" in read.text
    card = page[page.index(f'id="{gate_anchor(sample.PREBUILT_GATE.id)}"') :]
    diff = card[card.index('<pre class="diff">') : card.index("</pre></div></details>")]
    assert "-    if capability in (90, 100):\n+    if capability in (90, 100, 120):" in diff


def test_what_the_hardware_closes_has_no_edit() -> None:
    evidence = (Step(sample.SERVER, 1, "needs `tcgen05.mma`"),)
    closed = msgspec.structs.replace(sample.PREBUILT_GATE, justification=Justification("hardware", evidence))
    report = msgspec.structs.replace(sample.REPORT, gates=(closed,), paths=())
    text = html.render(report, sample.source).decode()
    assert "needs <code>tcgen05.mma</code>" in text
    assert '<pre class="diff">' not in text


def test_files_in_which_nothing_depends_are_listed_by_folder() -> None:
    read = (*sample.REPORT.coverage.read, FileFacts("turbine/deep/plain.py", 0, 0))
    coverage = msgspec.structs.replace(sample.REPORT.coverage, read=read)
    text = Reader(html.render(msgspec.structs.replace(sample.REPORT, coverage=coverage)).decode()).text
    assert "turbine/deep (1) plain.py" in text


def test_code_is_shown_with_the_deciding_part_marked(page: str) -> None:
    mark = f"<mark data-g={gate_anchor(sample.FUSE_GATE.id)}>(_hopper"
    assert mark in page


def test_without_source_places_are_named_only() -> None:
    bare = html.render(sample.REPORT).decode()
    assert "<mark" not in bare[: bare.index("<script")].split("</style>")[1]
    assert "servekit/layers/fuse.py:10" in bare
    read = Reader(bare)
    assert {link[1:] for link in read.links} <= set(read.ids)


def test_same_report_same_bytes(page: str) -> None:
    copy = model.decode(json.render(sample.REPORT))
    assert html.render(copy, sample.source).decode() == page


def test_formats_write_bytes() -> None:
    for name, write in FORMATS.items():
        assert write(sample.REPORT, sample.source, Marks(frozenset([sample.JIT_GATE.id]))), name


def test_empty_report() -> None:
    empty = msgspec.structs.replace(
        sample.REPORT, gates=(), builds=(), nodes=(), edges=(), paths=(), matrix=(), predicates=(), inputs=()
    )
    read = Reader(html.render(empty).decode())
    assert "Nothing found that sm_120 loses" in read.text
    assert {link[1:] for link in read.links} <= set(read.ids)


def test_hostile_text_is_text() -> None:
    page = html.render(hostile.report(), hostile.source).decode()
    read = Reader(page)
    assert read.tags.count("script") == 3
    assert "img" not in read.tags
    assert read.handlers == []
    assert read.urls == []
    assert "{{ 7*7 }}" in read.text
    assert "⟦U+202E⟧evil⟦U+202C⟧" in read.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


def test_a_dangling_id_does_no_harm() -> None:
    first = sample.PATHS[0]
    barriers = (sample.Barrier("gone", "always"),)
    path = msgspec.structs.replace(first, steps=(*first.steps, "gone"), barriers=barriers)
    read = Reader(html.render(msgspec.structs.replace(sample.REPORT, paths=(path,)), sample.source).decode())
    assert "gone" in read.text
    assert {link[1:] for link in read.links} <= set(read.ids)


def test_a_long_path_is_folded_to_what_decides() -> None:
    nodes = tuple(sample.Node(f"n{i}", "function", f"f{i}", sample.API, 5) for i in range(200))
    edges = tuple(sample.Edge(a.id, b.id, "calls") for a, b in pairwise(nodes))
    edges += (sample.Edge("n199", sample.JIT_GATE.id, "calls"),)
    path = msgspec.structs.replace(
        sample.PATHS[1],
        steps=(*(n.id for n in nodes), sample.JIT_GATE.id),
        barriers=(sample.Barrier(sample.JIT_GATE.id, "always"),),
    )
    report = msgspec.structs.replace(sample.REPORT, nodes=nodes, edges=edges, paths=(path,))
    page = html.render(report, sample.source).decode()
    assert "199 steps between these are not drawn." in page
    picture = page[page.index('<path class="e"') :]
    assert picture[: picture.index("</svg>")].count("<use ") == 2


def test_size_of_a_large_report() -> None:
    report = large.report()
    page = html.render(report, large.source)
    assert len(report.gates) == 600
    assert len(page) < 4_000_000


@pytest.mark.parametrize("largest", [400_000, 1])
def test_a_page_that_would_be_too_large_tells_less(monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    report = large.report()
    full = html.render(report, large.source)
    monkeypatch.setattr(html, "LARGEST", largest)
    page = html.render(report, large.source)
    assert len(page) < len(full)
    read = Reader(page.decode())
    assert {link[1:] for link in read.links} <= set(read.ids)
    assert len(read.ids) == len(set(read.ids))
    assert {gate_anchor(gate.id) for gate in report.gates} <= set(read.ids), "each gate has its place"
    assert {path_anchor(path.id) for path in report.paths} <= set(read.ids)
    assert "This report is large" in read.text


def test_of_findings_alike_a_page_too_large_has_one_card(monkeypatch: pytest.MonkeyPatch) -> None:
    report = msgspec.structs.replace(large.report(), paths=(), matrix=())
    monkeypatch.setattr(html, "LARGEST", 1)
    page = html.render(report, large.source).decode()
    listed = page[page.index('id="findings"') : page.index('id="ways"')]
    kinds = {(gate.layer, gate.code, gate.effect, gate.severity) for gate in report.findings}
    assert 0 < len(kinds) < len(report.findings)
    assert listed.count('<details class="card ') == len(kinds)
    assert "the first has a card" in listed
    ids = Reader(page).ids
    assert {gate_anchor(gate.id) for gate in report.findings} <= set(ids), "the others have their row"
