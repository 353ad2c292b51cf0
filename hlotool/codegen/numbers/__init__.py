"""Numbers of every element type in registers and in memory, with the rounding of their type."""
