"""Opt-in benchmarks against peers: `make bench` prints one table; nothing here is asserted or shipped."""
