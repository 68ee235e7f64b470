"""The forms by name, and the gains of drives."""
