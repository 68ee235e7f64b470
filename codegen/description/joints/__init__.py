"""Joints that no single element holds: those of a base, of loops, of several motions."""
