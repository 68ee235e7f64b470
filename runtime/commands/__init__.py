"""The subcommands of `diffpbd`, one file each with a click command named `command`."""
