"""URDF as links and joints."""
