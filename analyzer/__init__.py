"""smgate: which code of an installed tree a GPU architecture cannot reach, and why."""

__version__ = "0.1.0"
