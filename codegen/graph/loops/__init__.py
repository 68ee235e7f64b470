"""Closed loops: which rows are kept, found by numbers on closed poses."""
