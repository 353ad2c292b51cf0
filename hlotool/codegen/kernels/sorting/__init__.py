"""Sorts of every kind, and the largest elements."""
