"""The command line: the driver and one module a command."""
