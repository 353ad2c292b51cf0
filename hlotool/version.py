"""The version of the package, for whoever shows it."""

__version__ = "0.1.0"
