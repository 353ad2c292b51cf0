"""The identities of the algebraic simplifier, by family of ops."""
