"""The candidates of a query and of its parts, each once, with what their ranks are worth together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ebbtide.rank.candidates import union
from ebbtide.rank.fusion import fused_scores, ranking_of
from ebbtide.read.candidates import Found, find
from ebbtide.read.decompose import decompose
from ebbtide.read.walk import walk
from ebbtide.read.words import read_words

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.rank.profile import Profile
    from ebbtide.read.question import Question
    from ebbtide.read.search import Search

__all__ = ["find_each", "in_parts"]


def in_parts(question: Question, profile: Profile) -> Question:
    """The question with the parts that it is also searched by, where the profile says so."""
    return replace(question, parts=tuple(decompose(question.asked)[1:])) if profile.decompose else question


async def find_each(engine: Engine, transaction: Transaction, search: Search) -> Found:
    """What a question finds, and each of its parts, in the order of its directions, on the same snapshot.

    Each search ranks for itself, by similarity where that passes the profile's floor, then what it found by words
    alone; the ranks are fused. The window and the names of the whole question hold for its parts too. Then the graph
    is walked from the best of them, where the profile does that and there is one.
    """
    found = await _find_parts(engine, transaction, search)
    if search.profile.graph == "off" or not search.route.linked:
        return found
    return await walk(transaction, search, found)


async def _find_parts(engine: Engine, transaction: Transaction, search: Search) -> Found:
    whole = await find(transaction, search)
    if not search.question.parts:
        return whole
    found, route = [whole], search.route
    for part, direction in zip(search.question.parts, search.directions[1:], strict=True):
        words = await read_words(engine, transaction, replace(search.question, asked=part))
        way = route if direction is not None or route.way == "exact" else replace(route, way="worded")
        of_part = replace(search, terms=words, directions=(direction,), route=way)
        found.append(await find(transaction, of_part, keywords=search.terms))
    candidates, standing = union([one.candidates for one in found])
    ranks = np.zeros((len(found), len(candidates)), dtype=np.int64)
    lexical = np.zeros(len(candidates))
    for row, (one, stands) in enumerate(zip(found, standing, strict=True)):
        order = ranking_of(search.profile, one.candidates)
        ranks[row, stands[order]] = np.arange(1, len(order) + 1)
        np.maximum.at(lexical, stands, one.lexical)
    return Found(replace(candidates, fused=fused_scores(ranks)), lexical, ranks)
