"""What every room uses: arrays, errors, files, names, progress."""
