"""The catalogue: plain functions, their derivatives, names and reasons."""
