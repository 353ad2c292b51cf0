"""Makes arguments: random numbers within constraints."""
