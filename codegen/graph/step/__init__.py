"""Kernels of the joint-space step, and what torque estimation asks of it."""
