"""Distances of shapes of a robot from each other and from obstacles."""
