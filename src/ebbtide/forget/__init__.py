"""Forgetting: what goes with a memory, what may not go, and the proof that it went."""
