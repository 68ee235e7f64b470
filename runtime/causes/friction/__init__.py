"""Causes in the friction of joints."""
