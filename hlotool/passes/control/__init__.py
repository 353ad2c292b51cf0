"""Calls, loops, conditionals, and computations as a whole."""
