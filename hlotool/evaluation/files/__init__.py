"""Values in files: numpy's, literals, protos."""
