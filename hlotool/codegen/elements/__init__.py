"""How each op yields an element of its result: by its index, from elements of operands."""
