"""What an identification found, with its statistics and provenance."""
