"""Arms that a run can move: one folder each."""
