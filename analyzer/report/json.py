"""The report as JSON: the contract itself, from which everything else is drawn."""

from __future__ import annotations

from analyzer import model


def render(report: model.Report) -> bytes:
    """The report in the form that ``reports/schema-1.json`` describes; equal reports, equal bytes."""
    return model.encode(report)
