"""The runtime on a Franka Research 3 through libfranka, as the wheel `franky-control` (extra `franka`) brings it."""
