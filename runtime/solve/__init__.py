"""Solvers over generated functions: identification of parameters from recordings."""
