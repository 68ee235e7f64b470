"""Closed loops: their rows, and the bordered systems of a step with them."""
