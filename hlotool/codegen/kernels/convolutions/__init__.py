"""Convolutions on register tiles."""
