"""Changing modules: building instructions, and rewriting by patterns."""
