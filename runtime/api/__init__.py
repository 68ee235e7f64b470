"""What `import diffpbd` offers, one job a file."""
