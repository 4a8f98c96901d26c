"""Benchmarks: each module measures one thing and prints its numbers beside the ones to reach."""
