"""Entry points, gates, builds, sources and kernels, connected; paths through them."""
