"""What can be found out about a module without running it: pure functions."""
