"""Used by every room: arrays, errors, files, names, progress."""
