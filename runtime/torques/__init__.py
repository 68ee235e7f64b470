"""Joint torques from a recorded motion."""
