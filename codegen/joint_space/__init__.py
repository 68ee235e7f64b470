"""The step and the functions of a robot in joint coordinates, derived in SymPy."""
