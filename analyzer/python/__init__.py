"""From Python source to gates: parse, names, values, evaluation, decisions."""
