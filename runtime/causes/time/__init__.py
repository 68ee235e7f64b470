"""Causes in the clock of a recording."""
