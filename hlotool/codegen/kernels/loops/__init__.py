"""Plain loops around elements, and what moves elements: transposes, updates, scatters, scans."""
