"""Friction of contacts and heights of planes, from motions and tosses."""
