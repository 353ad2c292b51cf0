"""Dropping what is not needed, and sharing what is there twice."""
