"""A hand-written robot, and its builder."""
