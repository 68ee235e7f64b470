"""The runtime on a Baxter robot over ROS 1: numpy and the standard library only."""
