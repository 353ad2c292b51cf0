"""Passes that are made of passes of several families."""
