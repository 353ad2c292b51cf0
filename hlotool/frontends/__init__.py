"""What other programs write about modules, read and brought into our terms."""
