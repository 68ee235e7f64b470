"""The step of a tree: kernels, variants, parameter slopes, torque estimation."""
