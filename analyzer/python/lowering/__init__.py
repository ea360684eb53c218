"""From tree-sitter's concrete syntax of Python to CPython's ``ast`` nodes."""
