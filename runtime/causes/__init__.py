"""What may be wrong with a recording or missing in a model: one class a file, in logs and fits alike."""
