"""From files to element trees, numbers and vertices; what a file says and nobody reads."""
