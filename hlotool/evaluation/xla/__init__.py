"""Runs modules under XLA, in a process of its own."""
