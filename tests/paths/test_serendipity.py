"""Serendipity: when memories of other topics come into a block, which, how many, and how a user's answer counts."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from ebbtide import AsyncEbbtide, ContextBlock, Ebbtide, Policy
from ebbtide.clock import FixedClock
from ebbtide.errors import Forbidden, InvalidInput, NotFound
from ebbtide.read.scope import make_scope
from ebbtide.read.serendipity import is_wanted

SPRINKLE = "## MEMORY SPRINKLE (from older topics):\n"
QUERY = "Tell me about the ferry"


def named(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "type": "PERSON"} for name in names]


def always(memory: Ebbtide, wanted: bool = True) -> None:
    """Let chance decide for other topics, or against them."""

    class Chance(Random):
        def betavariate(self, alpha: float, beta: float) -> float:
            return 0.75 if wanted else 0.25

    object.__setattr__(memory.wait_for(memory.inner.engine), "chance", Chance(3))


@pytest.fixture
def known(memory: Ebbtide) -> Ebbtide:
    """Three people of the ferry, and two whom nothing of it names."""
    always(memory)
    for name in ("Ana", "Ben", "Cleo"):
        memory.remember(f"The ferry is steered by {name}", entities=named(name))
    memory.remember("Sarah was born on 15 March", predicate="birthday", confidence=0.9, entities=named("Sarah"))
    memory.remember("Omar wants a dark theme", kind="preference", confidence=0.8, entities=named("Omar"))
    memory.remember("Zoe paints boats", confidence=0.75, entities=named("Zoe"))
    return memory


def sprinkled(block: ContextBlock) -> list[str]:
    return block.text.split(SPRINKLE)[1].split("\n\n")[0].splitlines() if SPRINKLE in block.text else []


def context(memory: Ebbtide, query: str = QUERY, **asked: Any) -> ContextBlock:
    asked.setdefault("intent", "exploratory")
    return memory.context(query, **asked)


def ferry(memory: Ebbtide, **asked: Any) -> ContextBlock:
    """A block of the memories that name the ferry, and no others."""
    return context(memory, profile="agentium", min_score=0.5, **asked)


def test_an_exploring_query_meets_two_memories_of_other_topics(known: Ebbtide) -> None:
    block = ferry(known)
    assert sprinkled(block) == ["- [Birthday]: Sarah was born on 15 March", "- [Preference]: Omar wants a dark theme"]
    assert len(block.serendipity) == 2
    assert set(block.serendipity) <= set(block.ids)
    assert block.sections.keys() == {"facts", "serendipity"}
    assert {known.get(id_).content for id_ in block.ids} == {
        *(f"The ferry is steered by {name}" for name in ("Ana", "Ben", "Cleo")),
        "Sarah was born on 15 March", "Omar wants a dark theme",
    }  # fmt: skip


def test_nothing_else_is_an_occasion(known: Ebbtide, clock: Any) -> None:
    for intent in ("decision", "factual", "comparative", "temporal", "relationship"):
        assert ferry(known, intent=intent).serendipity == ()
    assert ferry(known, limit=2).serendipity == ()
    assert ferry(known, as_of=clock.now()).serendipity == ()
    always(known, wanted=False)
    assert ferry(known).serendipity == ()


def test_a_plain_recall_has_none(known: Ebbtide) -> None:
    contents = {hit.content for hit in known.recall(QUERY, intent="exploratory", profile="agentium", min_score=0.5)}
    assert contents == {f"The ferry is steered by {name}" for name in ("Ana", "Ben", "Cleo")}


def test_what_the_conversation_speaks_of_is_no_other_topic(known: Ebbtide) -> None:
    chat = known.scoped(chat="c1")
    chat.remember("Sarah and I had lunch", kind="message", entities=named("Sarah"))
    assert sprinkled(ferry(chat, kinds=["fact", "preference"])) == [
        "- [Preference]: Omar wants a dark theme", "- [Zoe]: Zoe paints boats",
    ]  # fmt: skip


def test_of_much_that_is_known_chance_names_what_is_looked_at(known: Ebbtide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ebbtide.read.serendipity.SAMPLED_ENTITIES", 1)
    met = {tuple(sprinkled(ferry(known))) for _ in range(40)}
    assert () in met
    assert len(met) > 2
    assert max(map(len, met)) == 1


def test_rules_and_policies_hold_for_other_topics_too(known: Ebbtide) -> None:
    known.remember("Write to Yara at yara@example.com", namespace="vector.mail", confidence=1.0, entities=named("Yara"))
    assert sprinkled(ferry(known))[0] == "- [Yara]: Write to Yara at yara@example.com"
    known.rules.add("vector.mail", personal_data="redact")
    assert sprinkled(ferry(known))[0] == "- [Yara]: Write to Yara at [EMAIL]"
    assert "Yara" not in ferry(known, namespaces=["vector.global.*"]).text
    known.policies.set("default", Policy(read=("vector.global.*",), top_k=20))
    agent = known.as_agent("default", "memory:read")
    assert "- [Birthday]: Sarah was born on 15 March" in sprinkled(ferry(agent))
    assert "Yara" not in ferry(agent).text
    with pytest.raises(Forbidden):
        agent.engaged(ferry(agent).serendipity)


def test_a_forgotten_memory_is_met_no_more(known: Ebbtide) -> None:
    first = ferry(known).serendipity[0]
    known.forget(first, known.get(first).revision)
    assert first not in ferry(known).serendipity
    with pytest.raises(NotFound):
        known.engaged(first)


def test_engagement_counts_for_the_user_alone(known: Ebbtide, owner: Any) -> None:
    ids = ferry(known).serendipity
    ana = known.scoped(user="ana")
    assert [(one.alpha, one.beta) for one in (ana.engaged(ids), ana.engaged(ids[0], False), ana.engaged(ids))] == [
        (2.0, 1.0), (2.0, 2.0), (3.0, 2.0),
    ]  # fmt: skip
    assert (known.engaged(ids, False).alpha, known.scoped(user="ben").engaged(ids).beta) == (1.0, 1.0)
    ana.erase_user("ana")
    assert owner.execute("SELECT count(*) FROM serendipity_arm WHERE user_id = 'ana'").fetchone() == (0,)
    for wrong in ([], "x", [1], None):
        with pytest.raises(InvalidInput):
            known.engaged(wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(NotFound):
        known.engaged(uuid4())


def share(alpha: float, beta: float, draws: int = 4_000) -> float:
    chance = Random(7)
    return sum(is_wanted(chance, alpha, beta) for _ in range(draws)) / draws


def test_the_draw_follows_the_distribution() -> None:
    """P(θ > 1/2) for θ of Beta(α, β): a half for equal ones, 1 - 2⁻ⁿ for Beta(n, 1); within four standard errors."""
    assert share(1, 1) == pytest.approx(0.5, abs=0.032)
    assert share(5, 5) == pytest.approx(0.5, abs=0.032)
    assert share(3, 1) == pytest.approx(7 / 8, abs=0.021)
    assert share(1, 3) == pytest.approx(1 / 8, abs=0.021)
    assert share(20, 2) > 0.99
    assert [is_wanted(Random(3), 1, 1) for _ in range(3)] == [is_wanted(Random(3), 1, 1)] * 3


def test_a_seed_makes_chance_repeatable(open_store: Any, settings: Any) -> None:
    seeded = settings.model_copy(update={"chance_seed": 11})
    drawn = []
    for _ in range(2):
        engine = (handle := open_store(settings=seeded)).wait_for(handle.inner.engine)
        drawn.append([engine.chance.random() for _ in range(3)])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("window", [100, 12], ids=["all in the window", "more than the window"])
async def test_each_memory_of_an_entity_is_as_likely_to_come_in(
    async_memory: AsyncEbbtide, clock: FixedClock, window: int
) -> None:
    """In 300 lots of 10 of 40 each is drawn 75 times or so; the standard deviation is 7.5."""
    for number in range(40):
        clock.advance(timedelta(hours=1))
        await async_memory.remember(f"Odd zebra {number}", confidence=0.9, entities=named("Dora"))
    engine, caller, chance = await async_memory.engine(), async_memory.caller, Random(5)
    drawn: Counter[UUID] = Counter()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        for _ in range(300):
            rows = await transaction.all(
                "serendipity.others", **make_scope(caller, clock.now()).parameters(), ids=[], chat=None, turns=20,
                told=["fact"], least=0.7, limit=20, start=chance.randbytes(32), entities=200, mentions=10,
                window=window, share=chance.random(), lot=chance.getrandbits(63),
            )  # fmt: skip
            drawn.update(row[2] for row in rows)
    assert len(drawn) == 40
    assert 30 <= min(drawn.values()) <= max(drawn.values()) <= 120


FACT = st.tuples(st.integers(0, 6), st.floats(0.0, 1.0), st.booleans())


@property_settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(facts=st.lists(FACT, max_size=10), engagements=st.lists(st.booleans(), max_size=6))
def test_what_holds_for_every_block(memory: Ebbtide, facts: list[Any], engagements: list[bool]) -> None:
    """At most two, of at least 0.7, of no entity of the hits, below every hit; and every engagement counts once."""
    always(memory)
    place = memory.scoped(tenant=uuid4().hex)
    for name in ("Ana", "Ben", "Cleo"):
        place.remember(f"The ferry is steered by {name}", entities=named(name))
    people = ("Ana", "Ben", "Dora", "Emil", "Fay", "Gus", "Hal")
    for number, (who, confidence, both) in enumerate(facts):
        mentioned = named(people[who], *(["Cleo"] if both else []))
        place.remember(f"Odd zebra {number}", confidence=confidence, entities=mentioned)
    block = ferry(place)
    assert len(block.serendipity) <= 2
    last = max(block.text.index(place.get(id_).content) for id_ in block.ids if id_ not in block.serendipity)
    for id_ in block.serendipity:
        made = place.get(id_)
        assert made.confidence >= 0.7
        who, _, both = facts[int(made.content.split()[-1])]
        assert not both
        assert people[who] not in ("Ana", "Ben", "Cleo")
        assert block.text.index(made.content) > last
    fitting = {who for who, confidence, both in facts if confidence >= 0.7 and not both and who > 1}
    assert len(block.serendipity) == min(2, len(fitting))
    any_id = block.ids[0]
    arms = [place.scoped(user="u").engaged(any_id, engaged) for engaged in engagements]
    for count, arm in enumerate(arms, start=1):
        taken = sum(engagements[:count])
        assert (arm.alpha, arm.beta) == (1 + taken, 1 + count - taken)
