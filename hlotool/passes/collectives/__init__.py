"""Communication between devices, and shardings."""
