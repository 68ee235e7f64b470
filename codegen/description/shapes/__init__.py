"""Shapes that touch, and shapes that must not."""
