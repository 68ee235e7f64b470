"""The forms that follow a trajectory of the generated step."""
