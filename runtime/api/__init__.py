"""Functions and types of `import diffpbd`, one job a file."""
