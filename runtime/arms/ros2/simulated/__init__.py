"""A simulated arm behind the same topics, in a process of its own."""
