"""Optimisation problems over generated functions."""
