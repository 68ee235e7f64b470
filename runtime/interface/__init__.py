"""Types that arms, controllers and the loop hand to each other."""
