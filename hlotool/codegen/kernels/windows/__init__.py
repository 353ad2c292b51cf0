"""Reductions of windows: pooling, running sums, and back."""
