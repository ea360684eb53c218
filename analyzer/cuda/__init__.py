"""From CUDA and C++ source to what survives on each architecture."""
