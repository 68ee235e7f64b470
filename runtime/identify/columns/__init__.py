"""Columns of the torque that unknowns add along a recording."""
