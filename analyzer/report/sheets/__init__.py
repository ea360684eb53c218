"""Comparisons as sheets of sentences, for a terminal, in Markdown, in HTML."""
