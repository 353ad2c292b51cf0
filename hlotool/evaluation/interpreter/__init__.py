"""Runs computations on numpy: one device, or a grid of them."""
