"""Experiments of the paper: design."""
