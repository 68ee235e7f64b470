"""A simulated Baxter: the robot's behaviour on its topics, with physics that is not our generated step."""
