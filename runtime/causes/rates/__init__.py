"""Causes in positions and rates beside each other, and beside the joint's limits."""
