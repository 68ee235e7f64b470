"""The method, derived in SymPy."""
