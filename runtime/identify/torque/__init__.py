"""The solves of the torque form, and statistics of their solutions."""
