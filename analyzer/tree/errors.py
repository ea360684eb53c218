"""What can be wrong with the input as a whole."""

from __future__ import annotations


class TreeError(Exception):
    """The scan cannot start (or go on); the message is one line for the user."""
