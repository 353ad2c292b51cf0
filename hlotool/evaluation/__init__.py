"""Runs modules on a plain numpy evaluator, makes arguments for them, compares their results.

It is the yardstick for compiled code, and shares none with it.
"""
