"""Arithmetic that the evaluation of several ops is made of, on numpy arrays."""
