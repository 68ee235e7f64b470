"""Plots and pages about runs."""
