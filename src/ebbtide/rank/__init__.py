"""Ranking: profiles as data, and the pure arithmetic that turns candidates into an order with its reasons."""
