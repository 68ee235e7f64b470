"""The robot as the derivation sees it, and what is asked of it by name."""
