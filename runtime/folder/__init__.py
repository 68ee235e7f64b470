"""A generated folder: its manifest, its library, the compiler, who may have changed it."""
