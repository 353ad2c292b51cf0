"""Compiles modules to machine code, loads it, and runs it."""
