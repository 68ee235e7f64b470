"""Causes that act in a part of a recording, or in one recording and not in another."""
