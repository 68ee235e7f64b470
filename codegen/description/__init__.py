"""Robot descriptions: reading, checking, and the recipe of what to generate."""
