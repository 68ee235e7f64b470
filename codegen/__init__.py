"""Robot description in, derived dynamics out: description, symbolic derivation, CasADi graphs, emitted C."""

import os

# SymPy reads it as it is imported; with its own 1000 a derivation takes a seventh longer.
os.environ.setdefault("SYMPY_CACHE_SIZE", "20000")
