"""What runs are recorded as: messages with a definition, their bytes, and bags of them."""
