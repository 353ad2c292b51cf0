"""Reductions: whole arrays, rows, columns, and rows that are used while in cache."""
