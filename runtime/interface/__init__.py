"""What arms, controllers and the loop hand to each other."""
