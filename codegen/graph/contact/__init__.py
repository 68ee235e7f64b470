"""Contacts and limits: rows, kernels and equations of a step."""
