"""The matrix as table, JSON, Markdown and CSV; choosing its rows and columns."""

from __future__ import annotations

import csv
import io
import json

import pytest
from click.testing import CliRunner

from analyzer import cli
from analyzer.model import encode
from analyzer.report import matrix
from tests.report.sample import REPORT

SOME = REPORT.matrix[0]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_row_and_column_by_default() -> None:
    chosen = matrix.view(REPORT)
    assert (chosen.cells, chosen.archs, chosen.arch) == (REPORT.matrix, REPORT.archs, REPORT.target.arch)


@pytest.mark.parametrize(
    "pattern", [SOME.api, SOME.api[:-2] + "*", SOME.api[2:-2], f"{SOME.api}={SOME.backend}"]
)
def test_rows_by_pattern_or_part(pattern: str) -> None:
    chosen = matrix.view(REPORT, pattern)
    assert SOME in chosen.cells
    assert len(chosen.cells) < len(REPORT.matrix)


def test_reasons_are_for_the_first_column_without_the_target() -> None:
    assert matrix.view(REPORT, archs=["sm_90", "sm_100"]).arch == "sm_90"


def test_json_holds_the_columns_alone() -> None:
    told = json.loads(matrix.as_json(matrix.view(REPORT, SOME.api, ["sm_90"])))
    assert {key for row in told for key in row["status"]} == {"sm_90"}
    assert told[0]["api"] == SOME.api


def test_csv_has_one_line_for_each_row_with_gates_and_places() -> None:
    told = rows(matrix.as_csv(matrix.view(REPORT)))
    assert [row["api"] for row in told] == [cell.api for cell in REPORT.matrix]
    target = REPORT.target.arch
    stopped = next(cell for cell in REPORT.matrix if cell.reasons.get(target))
    row = told[REPORT.matrix.index(stopped)]
    assert row[target] == stopped.status[target]
    assert row[f"gates ({target})"].split("; ") == list(stopped.reasons[target])


def test_markdown_escapes_and_counts() -> None:
    text = matrix.markdown(matrix.view(REPORT))
    assert text.count("\n| `") == len(REPORT.matrix)
    assert f"{len(REPORT.matrix)} rows on {REPORT.target.arch}:" in text


def test_table_says_when_nothing_fits() -> None:
    assert "no row of the matrix fits" in matrix.table(matrix.view(REPORT, "nothing.like.it"))


def test_verb_reads_a_saved_report(tmp_path: pytest.TempPathFactory) -> None:
    file = tmp_path / "report.json"  # type: ignore[operator]
    file.write_bytes(encode(REPORT))
    done = CliRunner().invoke(
        cli.smgate, ["matrix", "--from", str(file), "--format", "csv", "--arch", "sm_120"]
    )
    assert done.exit_code == 0, done.output
    assert [row["api"] for row in rows(done.output)] == [cell.api for cell in REPORT.matrix]


def test_the_table_is_narrow_and_names_the_first_place() -> None:
    target = REPORT.target.arch
    stopped = next(cell for cell in REPORT.matrix if cell.reasons.get(target))
    first = next(gate for gate in REPORT.gates if gate.id == stopped.reasons[target][0])
    text = matrix.table(matrix.view(REPORT, f"{stopped.api}={stopped.backend}"))
    line = next(line for line in text.splitlines() if "✕" in line)
    assert line.count("✕") == list(stopped.status.values()).count("unsupported")
    assert f"{first.file}:{first.line}"[-30:] in line
    assert "✓ works" in text
    assert max(map(len, text.splitlines())) <= 120
