"""Force laws of one joint, in whatever coordinates a step keeps: friction, springs of every joint and of chosen ones."""
