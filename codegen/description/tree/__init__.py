"""Links and joints as written, which of them are chosen, and the robot that they make."""
