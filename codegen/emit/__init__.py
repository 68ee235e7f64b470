"""Emission: C sources, manifest, build files."""
