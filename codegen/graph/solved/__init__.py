"""The step as a differentiable function, whatever constrains the robot."""
