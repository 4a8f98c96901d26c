"""Explanation: one row of the contribution matrix as named numbers and as a sentence."""

from __future__ import annotations

from ebbtide.rank.score import Scored

__all__ = ["contributions", "sentence"]

# A contribution that rounds to 0.000 tells a reader nothing.
NEGLIGIBLE = 0.0005


def contributions(scored: Scored, position: int) -> dict[str, float]:
    """What each step added to the relevance of the candidate at `position`, in the profile's order; sums to it."""
    return dict(zip(scored.names, scored.contributions[position].tolist(), strict=True))


def sentence(scored: Scored, position: int) -> str:
    """One line such as `Relevance 0.670 = semantic 0.340 + recency 0.120 + importance 0.210.`"""
    parts = ""
    for name, share in contributions(scored, position).items():
        if abs(share) >= NEGLIGIBLE:
            sign = ("" if share > 0 else "-") if not parts else (" + " if share > 0 else " - ")
            parts += f"{sign}{name} {abs(share):.3f}"
    return f"Relevance {scored.values[position]:.3f} = {parts or 'nothing'}."
