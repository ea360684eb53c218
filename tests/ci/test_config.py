"""Settings: where they are found, what is refused."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from analyzer.ci.config import find, load
from analyzer.ci.suppress import Rule
from analyzer.tree.errors import TreeError

FULL = """
root = "site"
target = "sm_121"
reference = ["sm_90"]
cuda = "12.8"
package = ["lib"]
jobs = 2
baseline = "ci/gates.jsonl"
fail-on = "warning"
strict = true

[env]
LIB_FAST = "1"

[[suppress]]
path = "lib/comm/**"
layer = "guard"
reason = "fixed upstream"
expires = 2027-01-31
"""


def test_every_setting(tmp_path: Path) -> None:
    (tmp_path / "smgate.toml").write_text(FULL)
    found = find(tmp_path)
    settings = found.settings
    assert found.file == tmp_path / "smgate.toml"
    assert (settings.target, settings.reference, settings.cuda) == ("sm_121", ("sm_90",), "12.8")
    assert (settings.fail_on, settings.strict, settings.jobs) == ("warning", True, 2)
    assert settings.env == {"LIB_FAST": "1"}
    assert settings.suppress == (
        Rule("fixed upstream", path="lib/comm/**", layer="guard", expires=datetime.date(2027, 1, 31)),
    )
    assert found.beside("ci/gates.jsonl") == tmp_path / "ci/gates.jsonl"


def test_the_nearest_folder_upwards(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.smgate]\ntarget = 'sm_121'\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find(below).settings.target == "sm_121"
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find(below).settings.target == "sm_121", "a file without such a table is passed"
    (tmp_path / "a" / "smgate.toml").write_text("target = 'sm_120'\n")
    assert find(below).settings.target == "sm_120"
    (below / ".git").mkdir()
    assert find(below).file is None, "a repository's settings are its own"


def refused(tmp_path: Path, text: str) -> str:
    file = tmp_path / "smgate.toml"
    file.write_text(text)
    with pytest.raises(TreeError) as caught:
        find(tmp_path)
    message = str(caught.value)
    assert message.startswith(str(file))
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("targt = 'sm_120'", "unknown field `targt`"),
        ("fail_on = 'error'", "unknown field `fail_on`"),
        ("fail-on = 'fatal'", "'fatal'"),
        ("strict = 'yes'", "Expected `bool"),
        ("reference = 'sm_90'", "Expected `array"),
        ("target = ", "is not TOML"),
        ("[[suppress]]\nid = 'x'", "missing required field `reason`"),
        ("[[suppress]]\nreason = 'x'", "entry 1: give an id"),
        ("[[suppress]]\nid = 'x'\nreason = ' '", "entry 1: the reason is empty"),
        ("[[suppress]]\nid = 'x'\nreason = 'y'\nuntil = 2026-01-01", "unknown field `until`"),
        ("[[suppress]]\nid = 'x'\nreason = 'y'\nexpires = 'soon'", "date"),
        ("[[suppress]]\nlayer = 'gard'\nreason = 'y'", "'gard'"),
    ],
)
def test_what_means_nothing_is_refused(tmp_path: Path, text: str, part: str) -> None:
    assert part in refused(tmp_path, text)


def test_two_files_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "smgate.toml").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.smgate]\n")
    with pytest.raises(TreeError, match="settings in both"):
        find(tmp_path)


def test_a_named_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.smgate]\ntarget = 'sm_121'\n")
    assert load(tmp_path / "pyproject.toml").settings.target == "sm_121"
    with pytest.raises(TreeError, match="cannot read"):
        load(tmp_path / "absent.toml")
