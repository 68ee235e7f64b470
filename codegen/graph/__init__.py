"""CasADi graphs of the derived programs and their derivatives."""
