"""The back end that a call asks for by name."""

from __future__ import annotations

import pytest

from tests.python.surveys import surveyed

PROGRAM = """
import functools
import torch


def marked(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


def run(x, backend="auto", mask=None):
    if torch.cuda.get_device_capability()[0] >= 10:
        return x.wide(backend)
    return x.plain(backend)


@marked
def run_marked(x, *, backend="auto"):
    return run(x, backend)


class Runner:
    def run(self, x, backend):
        return run(x, backend)


def serve(x, args, options, runner):
    if torch.cuda.get_device_capability()[0] >= 10:
        {call}
"""
CALLS = {
    "run(x)": "auto",
    'run(x, "wide")': "wide",
    'run(x, mask=x, backend="wide")': "wide",
    "run(x, args.backend)": "",
    'run(x, "wide" if args.fast else "plain")': "",
    "run(*args)": "",
    "run(x, **options)": "",
    'run(x, backend="wide", **options)': "wide",
    'run(x, **dict(backend="wide", mask=x))': "wide",
    'run_marked(x, backend="wide")': "wide",
    "run_marked(x)": "auto",
    'Runner().run(x, "wide")': "wide",
    "Runner().run(x, x.backend)": "",
    "marked(x)": "",
}


@pytest.mark.parametrize(("call", "choice"), CALLS.items())
def test_a_call_asks_for_a_back_end(call: str, choice: str) -> None:
    text = PROGRAM.replace("{call}", f"return {call}").encode()
    told = surveyed(["serve.py"], lambda file: text, names=["sm_100"])["sm_100"]
    line = text[: text.index(f"return {call}".encode())].count(b"\n") + 1
    assert {one.choice for one in told.calls if one.site.line == line and one.kind == "calls"} == {choice}
