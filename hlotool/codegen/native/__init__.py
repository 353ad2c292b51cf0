"""Code that every compiled module shares: threads, memory, and the call from Python."""
