"""Ops written out in simpler ones."""
