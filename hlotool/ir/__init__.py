"""The data structure of modules; it knows no opcode."""
