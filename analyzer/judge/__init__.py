"""Effect, silence, severity and justification of a gate."""
