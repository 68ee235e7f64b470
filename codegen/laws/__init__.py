"""Force laws of one joint, in whatever coordinates a step keeps: friction, springs, lever springs."""
