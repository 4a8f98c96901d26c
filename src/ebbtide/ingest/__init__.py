"""From a file to the passages that are remembered of it."""
