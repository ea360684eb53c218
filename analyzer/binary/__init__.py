"""Which images a compiled library carries."""
