"""A robot's numbers and parameters as CasADi blocks."""
