"""Pictures of modules."""
