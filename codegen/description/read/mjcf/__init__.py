"""MJCF as links and joints, by MuJoCo's own compiler."""
