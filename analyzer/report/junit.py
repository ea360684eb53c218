"""Gates as JUnit test cases: a gate that fails the check is a failure, a suppressed one is skipped.

Source: the schema that Jenkins' xUnit plugin reads (``testsuites/testsuite/testcase`` with ``failure``,
``skipped``), which GitLab and others share.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as Xml

from analyzer.ci.marks import Marks
from analyzer.model import Gate, Report
from analyzer.report import words
from analyzer.report.source import visible


def render(report: Report, marks: Marks) -> bytes:
    """One test case for each gate, by package; equal reports and marks, equal bytes."""
    target = report.target.arch
    gates = sorted((gate for gate in report.gates if not gate.in_tests), key=lambda g: (g.file, g.line, g.id))
    suites = Xml.Element("testsuites", name=f"smgate {target}", **_counts(gates, marks))
    packages: dict[str, list[Gate]] = {}
    for gate in gates:
        packages.setdefault(gate.file.partition("/")[0], []).append(gate)
    for package, some in sorted(packages.items()):
        suite = Xml.SubElement(suites, "testsuite", name=_text(package), **_counts(some, marks))
        for gate in some:
            _case(suite, gate, target, marks)
    Xml.indent(suites, " ")
    content: bytes = Xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _counts(gates: list[Gate], marks: Marks) -> dict[str, Any]:
    failures = sum(gate.id in marks.failing for gate in gates)
    skipped = sum(gate.id in marks.suppressed and gate.id not in marks.failing for gate in gates)
    return {"tests": str(len(gates)), "failures": str(failures), "errors": "0", "skipped": str(skipped)}


def _case(suite: Xml.Element, gate: Gate, target: str, marks: Marks) -> None:
    case = Xml.SubElement(
        suite,
        "testcase",
        name=_text(gate.id),
        classname=_text(gate.file.removesuffix(".py").replace("/", ".")),
        file=_text(gate.file),
        line=str(gate.line),
    )
    sentence = _text(words.plain(words.sentence(gate, target)))
    if gate.id in marks.failing:
        failure = Xml.SubElement(case, "failure", type=gate.effect, message=sentence)
        failure.text = _text(f"{gate.file}:{gate.line}: {gate.code}")
    elif gate.id in marks.suppressed:
        Xml.SubElement(case, "skipped", message=_text(marks.suppressed[gate.id]))


def _text(text: str) -> str:
    """Text that XML 1.0 can hold: no control character, no surrogate, none of the two last of the plane."""
    return visible(text, keep="").replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
