"""Records of runs: messages with a definition, their bytes, and bags of them."""
