"""From a file to its passages."""
