"""Experiments of the paper: torques."""
