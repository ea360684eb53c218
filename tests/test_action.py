"""The GitHub action, run step by step as a runner does; examples and hooks, held against their schemas."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from analyzer import cli, model
from tests.conftest import CACHE, DEMO_WHEELS

# Reports and demo packages come from the same fixtures as for the tests on real wheels.
from tests.corpus.conftest import report, report_file  # noqa: F401

REPOSITORY = Path(__file__).resolve().parent.parent


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text())
    return loaded


def run(folder: Path, environment: Mapping[str, str], **inputs: str) -> subprocess.CompletedProcess[str]:
    """All steps in that folder, until one fails; the answer is that of the last one."""
    given = {name: str(entry.get("default", "")) for name, entry in action()["inputs"].items()}
    assert set(inputs) <= set(given)
    given |= inputs
    done = None
    for step in action()["runs"]["steps"]:
        assert step["shell"] == "bash"
        resolved = {name: _resolved(text, given) for name, text in step["env"].items()}
        assert "${{" not in step["run"], "what a user gives reaches a script only through its environment"
        script = folder.parent / "step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=folder,
            env={**environment, **resolved},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            break
    assert done is not None
    return done


def _resolved(text: str, inputs: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: inputs[found[1]], text)


@pytest.fixture
def runner(tmp_path: Path) -> dict[str, str]:
    """The environment that a runner gives; wheels that were fetched before are found without an index."""
    for name in ("work", "temp", "cache"):
        (tmp_path / name).mkdir()
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_ACTION_PATH": str(REPOSITORY),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "PIP_FIND_LINKS": str(CACHE / "wheels"),
    }


def outputs(runner: Mapping[str, str]) -> dict[str, str]:
    lines = Path(runner["GITHUB_OUTPUT"]).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


@pytest.mark.slow
def test_the_steps_on_the_demo_wheels(
    tmp_path: Path,
    runner: dict[str, str],
    report_file: Path,  # noqa: F811
    report: model.Report,  # noqa: F811
    demo_cache: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runner["XDG_CACHE_HOME"] = str(demo_cache)  # as a runner restores it
    baseline = tmp_path / "work" / "gates.jsonl"
    assert cli.run(["check", "--from", str(report_file), "--baseline", str(baseline), "--update"]) == 0
    # Among equal conditions of one scope nobody can tell which one came.
    equal = Counter((g.layer, g.file, g.scope, g.code) for g in report.gates)
    single = [g for g in report.findings if equal[g.layer, g.file, g.scope, g.code] == 1]
    error = next(gate for gate in single if gate.severity == "error")
    warning = next(gate for gate in single if gate.severity == "warning")
    lines = baseline.read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line).get("id") not in (error.id, warning.id)]
    assert len(kept) == len(lines) - 2
    baseline.write_text("".join(kept))
    packages = "\n".join(f"{name}=={version}" for name, version in DEMO_WHEELS)

    done = run(tmp_path / "work", runner, packages=packages, baseline="gates.jsonl", target="sm_120")

    assert (done.returncode, done.stderr) == (1, "")
    annotations = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert len(annotations) == 1, "the warning is below the limit"
    assert annotations[0].startswith(f"::error file={error.file},line={error.line},")
    summary = Path(runner["GITHUB_STEP_SUMMARY"]).read_text()
    assert summary.startswith("## sm_120: 1 gate is new or worse than gates.jsonl allows\n")
    assert outputs(runner)["sarif-file"] == "smgate.sarif"
    sarif = json.loads((tmp_path / "work" / "smgate.sarif").read_bytes())
    states = {r["properties"]["gate"]: r["baselineState"] for r in sarif["runs"][0]["results"]}
    assert {gate for gate, state in states.items() if state == "new"} == {error.id, warning.id}
    assert set(states) == {gate.id for gate in report.findings}
    told = json.loads(Path(outputs(runner)["report"]).read_bytes())
    assert [row["new"]["id"] for row in told["failing"]] == [error.id]
    assert told["gone"] == [], "fetched wheels give the gates of an unpacked tree"
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == ["gates.jsonl", "smgate.sarif"]


@pytest.mark.slow
def test_the_steps_on_a_folder_without_a_baseline(tmp_path: Path, runner: dict[str, str]) -> None:
    library = tmp_path / "work" / "site" / "lib"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text(
        "import torch\ndef run(x):\n    if torch.cuda.get_device_capability()[0] not in (9, 10):\n"
        "        raise RuntimeError('no')\n    return x\n"
    )
    done = run(tmp_path / "work", runner, root="site", python=sys.executable)
    assert (done.returncode, done.stderr) == (1, "")
    assert "::error file=lib/__init__.py,line=3," in done.stdout
    done = run(tmp_path / "work", runner, root="site", target="sm_103", **{"sarif-file": "x.sarif"})
    assert (done.returncode, done.stderr) == (0, "")
    assert outputs(runner)["sarif-file"] == "x.sarif"
    done = run(tmp_path / "work", runner, root="nowhere")
    assert (done.returncode, done.stderr) == (2, "smgate: no such folder: nowhere\n")


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-actions", ["action.yml"]),
        ("github-workflows", ["examples/github-check.yml", "examples/github-weekly.yml"]),
        ("gitlab-ci", ["examples/gitlab-ci.yml"]),
    ],
)
def test_files_of_others_fit_their_schemas(schema: str, files: list[str]) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_hook_is_a_hook() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    (hook,) = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    verb = hook["entry"].split()
    assert verb[0] == "smgate"
    assert cli.run([*verb[1:], "--help"]) == 0


@pytest.mark.parametrize("file", ["examples/github-check.yml", "examples/github-weekly.yml"])
def test_examples_name_inputs_and_verbs_that_exist(file: str) -> None:
    workflow = yaml.safe_load((REPOSITORY / file).read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    for step in steps:
        if "smgate" in step.get("uses", ""):
            assert set(step["with"]) <= set(action()["inputs"])
        for verb in re.findall(r"^\s*smgate ([a-z]+)", step.get("run", ""), re.MULTILINE):
            assert verb in cli.smgate.list_commands(click.Context(cli.smgate))


def test_the_weekly_example_opens_an_issue_when_something_changed(tmp_path: Path) -> None:
    """The scripts of its steps, week after week, on a small tree; ``gh`` is stood in for."""
    workflow = yaml.safe_load((REPOSITORY / "examples/github-weekly.yml").read_text())
    scripts = [
        step["run"]
        for step in workflow["jobs"]["watch"]["steps"]
        if step.get("name") in ("Scan and compare", "Open the diff")
    ]
    assert len(scripts) == 2
    programs, work = tmp_path / "bin", tmp_path / "work"
    library = work / "site" / "lib"
    for folder in (programs, library):
        folder.mkdir(parents=True)
    smgate = f'#!/bin/sh\nPYTHONPATH={REPOSITORY} exec {sys.executable} -m analyzer "$@"\n'
    for name, text in (("smgate", smgate), ("gh", f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/gh\n')):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = {
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_REPOSITORY": "we/watch",
    }

    def week(majors: str) -> list[str]:
        (tmp_path / "gh").write_text("")
        (library / "__init__.py").write_text(
            f"import torch\ndef run(x):\n    if torch.cuda.get_device_capability()[0] not in {majors}:\n"
            "        raise RuntimeError('no')\n    return x\n"
        )
        for script in scripts:
            command = ["bash", "--noprofile", "--norc", "-e", "-c", script]
            subprocess.run(command, cwd=work, env=environment, capture_output=True, check=True)
        return (tmp_path / "gh").read_text().splitlines()

    assert week("(9, 10)") == [], "there is nothing to compare with"
    assert week("(9, 10)") == []
    opened = week("(9, 10, 12)")
    assert opened[:4] == ["issue", "create", "--repo", "we/watch"]
    assert "lib unknown: 0 gates new or worse and 1 better for sm_120" in opened
    assert "sm_120 and sm_121 admitted to `run`" in (work / "diff.md").read_text()
    assert week("(9, 10, 12)") == []
