"""Simulation: steps of several orders, and a MuJoCo arm in place of a real one."""
