"""Predictive control: the problem, its solvers, the controller."""
