"""Passes over modules, by the reference's names, and the pipelines made of them."""
