"""Programs and servers that are killed at any moment, and what must be there afterwards all the same."""
