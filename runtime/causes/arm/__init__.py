"""Causes in the bodies of an arm, its drives and its mounting."""
