"""Poses, inertias and capsules in plain floats."""
