"""Whole modules: one function that runs the schedule, with loops, branches and all calls."""
