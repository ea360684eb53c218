"""Terminal summary, explanation of a gate and of a file, Markdown."""

from __future__ import annotations

import io
import re

import msgspec
import pytest

from analyzer.ci.marks import Marks, State
from analyzer.model import Effect
from analyzer.report import explain, markdown, terminal, words
from analyzer.report.screen import Screen
from analyzer.report.source import elide, elide_start, visible
from tests.report import hostile, sample

EMPTY = msgspec.structs.replace(
    sample.REPORT, gates=(), paths=(), matrix=(), notices=(), predicates=(), builds=()
)


def test_summary_says_first_what_is_needed() -> None:
    lines = terminal.summary(sample.REPORT).splitlines()
    assert lines[0].startswith("sm_120 (RTX PRO 6000 Blackwell, GeForce RTX 5090) against sm_90 and sm_100")
    head = "\n".join(lines[:6])
    assert "servekit pins turbine-python 0.6.1" in head
    assert "sm_120 loses something at 7 places: 3 of them stop or break it" in head


def test_summary_lists_worst_first() -> None:
    text = terminal.summary(sample.REPORT)
    order = [text.rindex(word) for word in ("one_shot is an empty", "is refused in", "and nothing says so.")]
    assert order == sorted(order)
    assert "turbine/data/include/reduce.cuh:5" in text


def test_summary_names_the_way_in_and_its_gates_in_order() -> None:
    text = terminal.summary(sample.REPORT)
    option = text[text.index("servekit --enable-fused-reduce") :]
    assert option.index("servekit/layers/fuse.py:10") < option.index("turbine/jit/comm.py:6")
    assert "excluded, only for prebuilt packages" in option


def test_ways_in_with_the_same_barriers_share_their_lines() -> None:
    first, second = sample.PATHS
    entry = msgspec.structs.replace(second.entry, name="turbine.comm.other_reduce")
    twin = msgspec.structs.replace(second, id="path twin", entry=entry)
    text = terminal.summary(msgspec.structs.replace(sample.REPORT, paths=(first, second, twin)))
    assert "turbine.comm.custom_reduce  (+1 more way in)" in text
    assert "other_reduce" not in text


def test_summary_counts_what_it_leaves_out() -> None:
    text = terminal.summary(sample.REPORT, limit=2)
    assert "and 5 more findings, error or milder" in text
    assert "and 1 more way in" in text
    assert "more finding" not in terminal.summary(sample.REPORT, limit=0)


def test_summary_leaves_test_folders_out() -> None:
    assert "test_reduce" not in terminal.summary(sample.REPORT, limit=0)


def test_summary_says_how_much_was_not_understood() -> None:
    text = terminal.summary(sample.REPORT)
    assert "Not understood: 3 places" in text
    assert "2 attribute of a value that is not followed" in text
    assert "skipped turbine/data/blob.cu" in text


def test_summary_of_a_clean_tree() -> None:
    text = terminal.summary(EMPTY)
    assert "Nothing found that sm_120 loses against sm_90 and sm_100." in text
    assert "Findings" not in text


def test_alike_findings_share_a_line() -> None:
    many = tuple(sample.guard(15, "two_shot", n, effect="lost_sync", id=f"g{n}") for n in range(12))
    text = terminal.summary(msgspec.structs.replace(EMPTY, gates=many))
    assert text.count("reduce.cuh:15") == 1
    assert "(+11 alike)" in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_summary_keeps_to_the_width(width: int) -> None:
    for line in terminal.summary(sample.REPORT, Screen(width)).splitlines():
        assert len(line) <= width


def test_colour_only_where_asked() -> None:
    assert "\x1b[" not in terminal.summary(sample.REPORT, Screen(100, False))
    assert "\x1b[" in terminal.summary(sample.REPORT, Screen(100, True))


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_screen_of_a_stream() -> None:
    assert Screen.of(io.StringIO(), {}) == Screen(120, False)
    assert Screen.of(io.StringIO(), {"COLUMNS": "77"}).width == 77
    assert Screen.of(Tty(), {"COLUMNS": "90"}) == Screen(90, True)
    assert not Screen.of(Tty(), {"NO_COLOR": "1"}).color
    assert not Screen.of(Tty(), {"TERM": "dumb"}).color


def test_explain_shows_every_part_on_every_architecture() -> None:
    text = explain.gate(sample.REPORT, sample.FUSE_GATE, sample.source)
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.startswith("sm_")}
    assert rows["sm_90"] == ["true", "false", "free", "admit"]
    assert rows["sm_100"] == ["false", "true", "free", "admit"]
    assert rows["sm_120"][:4] == ["false", "false", "free", "reject"]


def test_explain_leads_back_to_the_device_query() -> None:
    text = explain.gate(sample.REPORT, sample.FUSE_GATE, sample.source)
    places = re.findall(r"^ +(\S+:\d+)$", text, re.M)
    assert places[:6] == [f"{step.file}:{step.line}" for step in sample.CHAIN]
    assert "major, _ = torch.cuda.get_device_capability()" in text


def test_explain_without_source_still_names_places() -> None:
    text = explain.gate(sample.REPORT, sample.FUSE_GATE)
    assert "servekit/device.py:7" in text
    assert "major, _" not in text


def test_explain_says_what_is_lost() -> None:
    text = explain.gate(sample.REPORT, sample.EMPTY, sample.source)
    assert "cudaGridDependencySynchronize (wait)" in text
    assert "empty kernel" in text


def test_explain_file_without_gates() -> None:
    text = explain.file(sample.REPORT, sample.API)
    assert "read, 2 architecture-dependent expressions, no gate" in text
    assert "undecided: reduce_module().fused" in text


def test_explain_file_with_gates_and_predicates() -> None:
    assert "3 architecture-dependent expressions, 1 gate" in explain.file(sample.REPORT, sample.FUSE)
    assert "servekit.device.is_hopper: false on sm_80, sm_89" in explain.file(sample.REPORT, sample.DEVICE)


def test_explain_file_that_was_not_read() -> None:
    assert "not read: not UTF-8" in explain.file(sample.REPORT, "turbine/data/blob.cu")
    assert "not among the files" in explain.file(sample.REPORT, "nowhere.py")


def test_hostile_text_cannot_command_the_terminal() -> None:
    report = hostile.report()
    views = [
        terminal.summary(report),
        explain.file(report, hostile.FILE, hostile.source),
        *(explain.gate(report, gate, hostile.source) for gate in report.gates),
    ]
    for text in views:
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]", text)
        assert "\u27e6U+202E\u27e7" in text


def test_markdown_holds_counts_ways_findings_and_matrix() -> None:
    text = markdown.render(sample.REPORT).decode()
    assert text.startswith("## sm_120: sm_120 loses something at 7 places")
    assert "| 🔴 error |  | 1 | 2 | **3** |" in text
    place = "`servekit/layers/fuse.py:10` | gets other code, silently"
    assert f"| 🔴 | `servekit --enable-fused-reduce` | {place} | 4 | raises |" in text
    assert "|  | `two_shot` | ✅ yes | ✅ yes | 🟡 degraded |" in text
    assert "3 places left undecided" in text


def test_markdown_of_a_check_holds_what_new_gates_decide() -> None:
    states: dict[str, State] = {gate.id: "unchanged" for gate in sample.GATES}
    same = markdown.changed(sample.REPORT, Marks(states=states)).decode()
    assert same.startswith("\n### All findings")
    assert "| 🔴 error |  | 1 | 2 | **3** |" in same
    text = markdown.changed(sample.REPORT, Marks(states=states | {sample.WAIT.id: "new"})).decode()
    assert "`two_shot`" in text
    assert "`one_shot`" not in text
    assert "`servekit --enable-fused-reduce`" in text
    assert "### What they decide in the matrix" in text


@pytest.mark.parametrize(
    ("effects", "told"),
    [
        ([], "no gate stops sm_120 on this way"),
        (["raises"], "today sm_120 stops with an error (fuse.py:10)"),
        (
            ["degraded", "raises"],
            "today sm_120 gets other code, silently (fuse.py:10); "
            "with that open it stops with an error (fuse.py:10)",
        ),
        (
            ["excluded", "lost_sync", "empty_kernel"],
            "today sm_120 does without it, silently (fuse.py:10); with that open, 2 more gates: at the last "
            "it launches a kernel that does nothing, silently (fuse.py:10)",
        ),
    ],
)
def test_outcome_of_a_way_says_what_happens_today(effects: list[Effect], told: str) -> None:
    gates = {
        str(n): msgspec.structs.replace(sample.FUSE_GATE, id=str(n), effect=effect, silent=effect != "raises")
        for n, effect in enumerate(effects)
    }
    barriers = tuple(sample.Barrier(gate, "always") for gate in gates)
    path = msgspec.structs.replace(sample.PATHS[0], barriers=barriers)
    assert words.path_outcome(path, "sm_120", gates) == told


def test_a_way_that_is_closed_under_circumstances_only_is_open_today() -> None:
    barriers = (sample.Barrier(sample.FUSE_GATE.id, "default"),)
    path = msgspec.structs.replace(sample.PATHS[0], barriers=barriers)
    gates = {sample.FUSE_GATE.id: sample.FUSE_GATE}
    assert words.path_outcome(path, "sm_120", gates) == "open today; closed only for the automatic choice"


def test_markdown_counts_what_it_leaves_out() -> None:
    text = markdown.render(sample.REPORT, limit=1).decode()
    assert "… and 6 more findings" in text
    assert "… and 1 more way" in text


def test_markdown_escapes() -> None:
    text = markdown.render(hostile.report()).decode()
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<script" not in outside.replace("\\<", "")
    assert "<img" not in outside.replace("\\<", "")
    assert "@everyone" not in outside
    for line in text.splitlines():
        assert line == visible(line, keep="")


@pytest.mark.parametrize(
    ("text", "span"),
    [("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a|b", "`a\\|b`"), ("x\ny", "`x y`"), ("", "")],
)
def test_markdown_code_span(text: str, span: str) -> None:
    assert markdown.code(text) == span


def test_visible() -> None:
    assert visible("plain é 漢") == "plain é 漢"
    assert visible("a\tb\nc") == "a\tb\nc"
    assert visible("\x1b[0m\x7f") == "\u241b[0m\u2421"
    assert visible("\u202e\ud800\u2028") == "\u27e6U+202E\u27e7\u27e6U+D800\u27e7\u27e6U+2028\u27e7"


def test_elide() -> None:
    assert elide("abcdefghij", 5) == "ab…ij"
    assert elide_start("abcdefghij", 5) == "…ghij"
    assert elide("abc", 5) == elide_start("abc", 5) == "abc"


def test_of_many_notices_the_first_alone_stands_before_the_headline() -> None:
    notices = tuple(sample.Notice(f"notice number {n}", ("servekit",)) for n in range(3))
    lines = terminal.summary(msgspec.structs.replace(sample.REPORT, notices=notices)).splitlines()
    headline = next(n for n, line in enumerate(lines) if line.startswith("sm_120 loses"))
    assert lines.index("! notice number 0") < headline
    assert all(lines.index(f"! notice number {n}") > headline for n in (1, 2))
