"""Which tree is meant when none is named: the environment of the ``python`` on PATH."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from analyzer.tree.errors import TreeError

_ASK = "import sysconfig; print(sysconfig.get_path('purelib'))"


def default_root() -> Path:
    """A virtual environment or site-packages folder.

    An environment is recognised by its ``pyvenv.cfg`` (PEP 405), without running anything. Only a ``python``
    outside of one is asked for its own folder, without loading anything that is installed there (``-I -S``).

    Raises:
        TreeError: there is no such program, or it does not answer.
    """
    program = shutil.which("python") or shutil.which("python3")
    if program is None:
        raise TreeError("no python on PATH: name the folder to scan")
    environment = Path(program).absolute().parent.parent
    if (environment / "pyvenv.cfg").is_file():
        return environment
    try:
        answer = subprocess.run(
            [program, "-I", "-S", "-c", _ASK], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise TreeError(f"{program} does not tell where its packages are: name the folder to scan") from error
    return Path(answer.stdout.strip())
