"""A generated folder: manifest, library, compiler, integrity."""
