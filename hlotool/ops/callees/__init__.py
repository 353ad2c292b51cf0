"""What ops do with the computations that they call: mapping, folding, sorting, scattering."""
