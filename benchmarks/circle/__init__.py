"""The tip on a circle, against MuJoCo's arm."""
