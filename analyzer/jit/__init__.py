"""What is built, from which sources, with which flags, for which architectures."""
