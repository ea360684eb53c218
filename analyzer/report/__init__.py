"""Views of a report: JSON, terminal, HTML, SARIF, Markdown; each a pure function of the report."""
