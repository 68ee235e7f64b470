"""Causes in torque sensors and encoders."""
