"""Experiments of the paper: method."""
