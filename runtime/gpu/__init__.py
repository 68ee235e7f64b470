"""A robot's functions on an NVIDIA GPU."""
