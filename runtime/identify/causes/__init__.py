"""Causes that a fitted model may lack, and the evidence for each."""
