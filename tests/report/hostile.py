"""Text that tries to break out of every view, and a report made of it."""

from __future__ import annotations

import msgspec

from analyzer.model import (
    Barrier,
    Build,
    Cell,
    Coverage,
    Entry,
    Files,
    Gate,
    Input,
    Justification,
    Loss,
    Node,
    Notice,
    Part,
    Path,
    Place,
    Predicate,
    Report,
    Skipped,
    Step,
    Unresolved,
)
from tests.report import sample

MARKER = "boom-boom"
NASTY = (
    f"</script><script>document.title='{MARKER}'</script><img src=x onerror=\"document.title='{MARKER}'\">"
    " {{ 7*7 }} {% raw %} '\"`|[x](javascript:1) & &amp; @everyone"
    " \u202eevil\u202c \x00\x07\x1b[31m\r\t\x85\u2028"
)
LONG = "x = 1; " * 1500
FILE = "pkg/a b'\"<i>&{{x}}\u202e\x1b`|).py"
NAME = f"f<b>'\"{{{{n}}}}\u2066{LONG[:200]}"


def source(file: str) -> list[str] | None:
    """The hostile file: its lines hold the hostile text, one of them is very long."""
    if file != FILE:
        return None
    return [NASTY, f"if {NASTY}: # {NASTY}", LONG + NASTY, "\ufeffend", ""]


def report() -> Report:
    """Every text field of a report holds hostile text."""
    gates = tuple(
        Gate(
            id=f"{NASTY}{number}",
            layer="runtime",
            file=FILE,
            line=line,
            end_line=line,
            column=4,
            scope=NAME,
            code=NASTY if number else LONG,
            verdict=sample.verdicts("sm_90", "sm_100"),
            effect="degraded",
            severity="error",
            falls_back_to=NASTY,
            admits=NASTY,
            message=NASTY,
            loses=(Loss(NASTY, NASTY, FILE, 1),),
            because=(Step(FILE, 2, NASTY),),
            uses=(Place(FILE, 3),),
            parts=(Part(NASTY, dict.fromkeys(sample.ARCHS, NASTY)),),
            justification=Justification("hardware", (Step(FILE, 1, NASTY),)),
            verified_by=(NASTY,),
        )
        for number, line in enumerate((1, 2, 3))
    )
    node = Node(NASTY, NASTY, NASTY, FILE, 1)
    entry = Entry(NASTY, "option", FILE, 1)
    steps = (node.id, *(g.id for g in gates))
    return msgspec.structs.replace(
        sample.REPORT,
        inputs=(Input(NASTY, NASTY, "pkg"),),
        notices=(Notice(NASTY, (NASTY,)),),
        predicates=(Predicate(NASTY, FILE, 1, {"sm_90": NASTY}, (gates[0].id, NASTY)),),
        gates=gates,
        builds=(
            Build(
                NASTY,
                NASTY,
                FILE,
                1,
                {"sm_120": "raises"},
                {"sm_120": NASTY},
                (FILE,),
                {"sm_120": (NASTY,)},
                {"sm_120": (NASTY,)},
            ),
        ),
        nodes=(node,),
        edges=(),
        paths=(Path(NASTY, entry, steps, (Barrier(gates[0].id, "default"),), "degraded", "error"),),
        matrix=(Cell(NASTY, NASTY, FILE, 1, {"sm_120": "degraded"}, {}, {"sm_120": (gates[0].id,)}),),
        coverage=Coverage(
            Files(1, 1, 1, 1, (Skipped(FILE, NASTY),)), (Unresolved(FILE, 1, NASTY, NASTY),), ()
        ),
    )
