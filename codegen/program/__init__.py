"""Straight-line SymPy programs, and what every derivation needs of a robot and of rotations."""
