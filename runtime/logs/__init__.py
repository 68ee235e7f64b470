"""Recordings of robots."""
