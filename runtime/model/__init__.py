"""An opened generated robot, and what is derived from its functions: limits, closed loops, shapes, distances."""
