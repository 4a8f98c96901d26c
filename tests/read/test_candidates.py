"""What the statements that find candidates measure."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbtide import Ebbtide
from ebbtide.db.arrays import plain_array, text_array
from ebbtide.db.statements import statement
from ebbtide.read.scope import make_scope
from ebbtide.read.words import Terms
from ebbtide.types.caller import Caller
from tests.stores import START

WORDS = [f"w{number}" for number in range(45)]
# One character alone is a prefix of every pair that it begins.
UNSPACED = ["\u6771", "\u6771\u4eac", "\u4eac\u90fd", "\u5927"]
EXPECTED = """
SELECT m.id, sum(q.idf * ts_rank(m.search, q.query))
FROM memory m, unnest(%(terms)s::tsquery[], %(idfs)s::float8[]) AS q(query, idf)
WHERE m.tenant_id = %(tenant)s AND m.search @@ %(any_term)s::tsquery
GROUP BY m.id
"""


@pytest.fixture
def worded(memory: Ebbtide) -> Ebbtide:
    """Memories of which some share many words with a query, and some none."""
    memory.remember_many([
        *(" ".join(WORDS[number :: 1 + number % 7] * (1 + number % 3)) for number in range(30)),
        "\u6771\u4eac\u306e\u5927\u5b66 w1", "\u4eac\u90fd w2 w2", "nothing of it",
    ])  # fmt: skip
    return memory


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    count=st.sampled_from([0, 1, 2, 7, 8, 9, 16, 40]),
    words=st.permutations([*WORDS, *UNSPACED]),
    idfs=st.lists(st.floats(0.001, 15), min_size=40, max_size=40),
    ending=st.sampled_from(["", "_whole"]),
)
def test_the_score_of_words_is_the_sum_of_their_ranks(
    worded: Ebbtide, owner: psycopg.Connection[Any], count: int, words: list[str], idfs: list[float], ending: str
) -> None:
    terms = Terms(tuple(words[:count]))
    asked = make_scope(Caller("default", "default"), START).parameters() | {
        "terms": text_array(terms.queries), "idfs": plain_array(idfs[:count]), "any_term": terms.any, "rows": 1_000,
        "vector": None, "context_weight": 0.0, "speaker": None, "question": "", "ruled": False, "timed": False,
    }  # fmt: skip
    found = {row[0]: row[4] for row in owner.execute(statement("recall.exact" + ending), asked)}
    expected = dict(owner.execute(EXPECTED, asked).fetchall())
    assert found.keys() == expected.keys()
    assert [found[id_] for id_ in expected] == pytest.approx(list(expected.values()), rel=1e-9)
    assert bool(found) == bool(count)
