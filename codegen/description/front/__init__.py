"""The doors: a file or a name in, a robot out, and a robot back to URDF."""
