"""Recipes: as a value, a TOML file, words of a command line."""
