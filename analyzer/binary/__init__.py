"""Which machine code compiled libraries hold, for which architectures, and what the target lacks of it."""
