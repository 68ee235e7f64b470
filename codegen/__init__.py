"""Robot description in, derived dynamics out: description, symbolic derivation, CasADi graphs, emitted C."""
