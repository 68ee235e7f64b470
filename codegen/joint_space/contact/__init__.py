"""Contacts: their rows, friction cones and discs, and distances that stay far."""
