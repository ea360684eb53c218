"""Baseline, difference, suppression and exit code."""
