"""A generated robot opened, and what follows from its functions: limits, closed loops, shapes, distances."""
