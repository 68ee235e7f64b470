"""What an identification is given: recordings, what to fit, how."""
