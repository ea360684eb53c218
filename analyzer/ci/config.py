"""A project's own settings: ``smgate.toml``, or ``[tool.smgate]`` in ``pyproject.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from analyzer.ci.suppress import Rule
from analyzer.tree.errors import TreeError

OWN, SHARED = "smgate.toml", "pyproject.toml"


class Settings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="kebab", kw_only=True
):
    """What a project may fix; the options of the command line go before. Paths are relative to the file."""

    root: str | None = None
    target: str | None = None
    reference: tuple[str, ...] | None = None
    cuda: str | None = None
    env: dict[str, str] | None = None
    package: tuple[str, ...] | None = None
    jobs: int | None = None
    baseline: str | None = None
    fail_on: Literal["error", "warning", "note"] | None = None
    strict: bool | None = None
    suppress: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """Settings and the file that holds them; none where there is no such file."""

    settings: Settings = field(default_factory=Settings)
    file: Path | None = None

    def beside(self, path: str) -> Path:
        """A path as it is meant in the file."""
        return Path(path) if self.file is None else self.file.parent / path


def find(folder: Path) -> Found:
    """The settings of the project in which a folder lies: of the nearest folder upwards that has some.

    The search ends at the top of a repository (a folder with ``.git``).

    Raises:
        TreeError: as :func:`load`; or one folder has settings in both files.
    """
    for place in (folder, *folder.parents):
        own, shared = place / OWN, place / SHARED
        table = _table(shared) if shared.is_file() else None
        if own.is_file() and table is not None:
            raise TreeError(f"settings in both {own} and {shared}: keep one")
        if own.is_file():
            return load(own)
        if table is not None:
            return Found(_settings(table, f"{shared}: [tool.smgate]"), shared)
        if (place / ".git").exists():
            break
    return Found()


def load(file: Path) -> Found:
    """The settings in a file; a ``pyproject.toml`` holds them under ``[tool.smgate]``.

    Raises:
        TreeError: the file cannot be read, is no TOML, or a key or value of it means nothing here.
    """
    if file.name == SHARED:
        table = _table(file)
        return Found(_settings(table or {}, f"{file}: [tool.smgate]"), file)
    return Found(_settings(_read(file), str(file)), file)


def _table(file: Path) -> dict[str, Any] | None:
    table = _read(file).get("tool", {}).get("smgate")
    return table if isinstance(table, dict) else None


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode())
    except OSError as error:
        raise TreeError(f"cannot read {file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TreeError(f"{file} is not TOML: {error}") from error


def _settings(table: dict[str, Any], where: str) -> Settings:
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise TreeError(f"{where}: {error}") from error
    for number, rule in enumerate(settings.suppress, 1):
        if not rule.text:
            raise TreeError(f"{where}: suppress, entry {number}: give an id, a path, a layer or a package")
        if not rule.reason.strip():
            raise TreeError(f"{where}: suppress, entry {number}: the reason is empty")
    return settings
