"""What the host side of a unit decides by the GPU that it runs on."""
