"""Writing ops out that backends have no code for, in simpler ones."""
