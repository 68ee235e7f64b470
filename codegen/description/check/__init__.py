"""Everything that is wrong or doubtful about a description."""
