"""Indices of elements as sums of loop counters, simplified before code is made of them."""
