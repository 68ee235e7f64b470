"""Options of the commands: derived from dataclasses, shared by several, and what they make of a run."""
