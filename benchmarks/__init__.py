"""Opt-in benchmarks against peers: `python -m benchmarks.run` prints one table; nothing here is asserted or shipped."""
