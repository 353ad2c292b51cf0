"""What a module wants of its parameters."""
