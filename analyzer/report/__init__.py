"""Views of a report: JSON, terminal, HTML, SARIF, Markdown."""
