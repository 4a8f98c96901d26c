"""Forgetting, its proof, and what may not be forgotten."""
