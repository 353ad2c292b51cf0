"""What custom calls compute, by target, one file a family, and the registry of all."""
