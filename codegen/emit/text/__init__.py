"""Texts of C: operations, numbers, templates, sizes of work arrays."""
