"""Element types: where values are converted, and in which type ops compute."""
