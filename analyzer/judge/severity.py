"""How grave a gate's effect is."""

from __future__ import annotations

import msgspec

from analyzer.model import Effect, Gate, Severity

#: From what harms most to what harms least, within one severity.
EFFECT_ORDER: tuple[Effect, ...] = (
    "empty_kernel",
    "wrongly_admitted",
    "illegal_instruction",
    "over_resource",
    "no_image",
    "raises",
    "lost_sync",
    "degraded",
    "excluded",
    "none",
)
_ERRORS: frozenset[Effect] = frozenset(
    ["raises", "empty_kernel", "illegal_instruction", "no_image", "over_resource", "wrongly_admitted"]
)
#: Kinds of loss without which data may be read before it is written.
_ORDERING = frozenset(["wait", "barrier", "fence"])


def severity(gate: Gate) -> Severity:
    """The severity of a gate's effect, by the report contract.

    What the chip cannot do is a note: no gate stands in the way of anything. To let the target in to where it
    cannot go, or to compile for it what does not assemble, is an error, whatever the reason.
    """
    if gate.effect == "none":
        return "none"
    if (
        gate.effect not in ("wrongly_admitted", "illegal_instruction")
        and gate.justification is not None
        and gate.justification.kind == "hardware"
    ):
        return "note"
    if gate.effect in _ERRORS:
        return "error"
    if gate.effect == "lost_sync":
        return "error" if any(loss.kind in _ORDERING for loss in gate.loses) else "note"
    return "warning" if gate.silent else "note"


def judged(gate: Gate) -> Gate:
    """The gate with its severity."""
    return msgspec.structs.replace(gate, severity=severity(gate))
