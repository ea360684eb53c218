"""Notices about versions that do not fit together."""

from __future__ import annotations

from pathlib import Path

from analyzer.tree.files import open_tree
from analyzer.tree.packages import UNKNOWN, Package
from analyzer.tree.requirements import notices


def package(name: str, version: str, *requires: str) -> Package:
    return Package(name, version, name, (name,), requires)


def test_only_unmet_requirements_between_scanned_packages() -> None:
    given = [
        package(
            "app",
            "1.0",
            "Some_Lib==2.0",
            "other>=1,<3",
            "absent==1",
            "extra-only==9; extra == 'x'",
            "windows==9; sys_platform == 'win32'",
            "nameless==1",
            "not a requirement !!",
            "pre>=1.0",
        ),
        package("some-lib", "2.1"),
        package("other", "2.5"),
        package("extra-only", "1"),
        package("windows", "1"),
        package("nameless", UNKNOWN),
        package("pre", "1.1rc1"),
    ]
    (notice,) = notices(given)
    assert notice.what == "app 1.0 requires Some_Lib==2.0, but 2.1 is scanned"
    assert notice.packages == ("app", "some-lib")


def test_demo(demo: Path) -> None:
    (notice,) = notices(open_tree(demo).packages)
    assert notice.what == "sglang 0.5.8.post1 requires flashinfer_python==0.6.1, but 0.6.3 is scanned"
