"""Dots, convolutions and reductions in other forms."""
