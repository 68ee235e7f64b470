"""Parameters from recordings."""
