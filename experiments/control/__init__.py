"""Experiments of the paper: control."""
