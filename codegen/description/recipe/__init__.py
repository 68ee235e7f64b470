"""What to generate for a robot: as a value, a TOML file, words of a command line."""
