"""Products of matrices, and what solves triangular systems."""
