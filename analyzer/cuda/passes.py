"""The compiler's passes over a unit as configurations: device passes by architecture, the host pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from analyzer import data
from analyzer.archs import Spelling
from analyzer.cuda.activity import Configuration


def default_toolkit() -> str:
    """The toolkit release that is assumed where none is given."""
    return str(data.table("macros")["toolkit"]["default"])


def parse_flags(flags: Iterable[str]) -> tuple[dict[str, str], str | None]:
    """The macros that ``-D`` (and ``-U``) flags leave, and the standard that ``-std`` asks for, if any.

    Both ``-DNAME`` and ``-D NAME`` are understood; a macro without a value is ``1``. Other flags are
    passed over.
    """
    macros: dict[str, str] = {}
    standard: str | None = None
    pending = ""
    for flag in flags:
        if pending:
            flag, pending = pending + flag, ""
        if flag in ("-D", "-U"):
            pending = flag
        elif flag.startswith("-D"):
            name, equals, value = flag[2:].partition("=")
            macros[name] = value if equals else "1"
        elif flag.startswith("-U"):
            macros.pop(flag[2:], None)
        elif flag.startswith(("-std=", "--std=")):
            standard = flag.partition("=")[2].replace("gnu++", "c++")
    return macros, standard


def device_pass(
    spelling: Spelling,
    flags: Sequence[str] = (),
    *,
    cuda: str | None = None,
    arch_list: Sequence[Spelling] = (),
) -> Configuration:
    """The device pass of nvcc for one architecture.

    ``flags`` are those of the build; ``cuda`` is the toolkit release (``13.0``); ``arch_list`` are all
    architectures of the build (default: this one alone), which ``__CUDA_ARCH_LIST__`` tells.
    """
    macros = _common(flags, cuda, "device")
    macros.update(spelling.macros())
    macros["__CUDA_ARCH_LIST__"] = _arch_list(arch_list or (spelling,))
    return Configuration(str(spelling), macros)


def host_pass(
    arch_list: Sequence[Spelling], flags: Sequence[str] = (), *, cuda: str | None = None
) -> Configuration:
    """The host pass of nvcc: no ``__CUDA_ARCH__``, but ``__CUDA_ARCH_LIST__``."""
    macros = _common(flags, cuda, "host")
    if arch_list:
        macros["__CUDA_ARCH_LIST__"] = _arch_list(arch_list)
    return Configuration("host", macros)


def _arch_list(spellings: Sequence[Spelling]) -> str:
    numbers = sorted({spelling.number * 10 for spelling in spellings})
    return ",".join(map(str, numbers))


def _common(flags: Sequence[str], cuda: str | None, kind: str) -> dict[str, str]:
    table = data.table("macros")
    major, minor = _release(cuda or default_toolkit())
    macros: dict[str, str] = dict(table["pass"]["common"]["macros"])
    macros.update(table["pass"][kind]["macros"])
    for name, since in table["pass"]["common"]["since"].items():
        if (major, minor) >= _release(since):
            macros[name] = "1"
    for prefix in ("__CUDACC_VER", "__CUDA_API_VER"):
        macros[f"{prefix}_MAJOR__"] = str(major)
        macros[f"{prefix}_MINOR__"] = str(minor)
    macros["__CUDACC_VER_BUILD__"] = table["pass"]["common"]["build"]
    macros[table["toolkit"]["version_macro"]] = str(major * 1000 + minor * 10)
    by_flag = table["pass"]["flags"]
    macros.update({by_flag[flag]: "1" for flag in flags if flag in by_flag})
    defined, standard = parse_flags(flags)
    macros["__cplusplus"] = _standard(table["standard"], standard)
    return macros | defined


def _release(cuda: str) -> tuple[int, int]:
    major, _, rest = cuda.partition(".")
    return int(major), int(rest.partition(".")[0] or 0)


def _standard(table: Mapping[str, str], asked: str | None) -> str:
    return table.get(asked or table["default"], table[table["default"]])
