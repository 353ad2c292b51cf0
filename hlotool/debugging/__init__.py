"""Finds out where something goes wrong: in which instruction, pass or input."""
