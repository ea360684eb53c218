"""What is held against what was: baselines, comparisons, suppressions, the project's own settings."""
