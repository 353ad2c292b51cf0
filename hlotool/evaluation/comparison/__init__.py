"""Compares results: bounds, what HLO leaves open, differences, origins."""
