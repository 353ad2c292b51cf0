"""Functions of floats and complex numbers as instructions that stand in a kernel.

`functions.FUNCTIONS` and `functions.COMPLEX_FUNCTIONS` hold them by name. None calls anything:
they are made of arithmetic, fused multiply-add, square roots, roundings and integer operations,
so they vectorize as they stand, and a lane has the same bits whatever the number of lanes.
"""
