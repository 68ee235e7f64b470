"""Motions in time: steps of any order, and a stand-in for a real arm."""
