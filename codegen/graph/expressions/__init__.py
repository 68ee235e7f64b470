"""CasADi expressions of programs, matrices, roots and distances, of any robot."""
