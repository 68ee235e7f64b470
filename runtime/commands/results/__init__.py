"""Words, tables, pictures and files that commands end with, and the live line until then."""
