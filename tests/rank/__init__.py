"""Ranking: the published numbers, and the properties that hold for all others."""
