"""Routing by types: what a search is restricted to, when it is not, and what is learnt from what came back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.clock import FixedClock
from ebbtide.errors import InvalidProfile
from ebbtide.jobs.upkeep import tidy_tenant
from ebbtide.rank.presets import PRESETS, TIDE
from ebbtide.rank.profile import Profile
from ebbtide.rank.strategies import BUILT_IN
from ebbtide.read import routing
from ebbtide.types.recall import Recall, Routing

ROUTED = TIDE.model_copy(update={"name": "routed", "routing": "on", "limit": 5})
QUERY = "who knows Rust"


def named(name: str, type_: str) -> dict[str, Any]:
    return {"entities": [{"name": name, "type": type_}]}


@pytest.fixture
def store(memory: Ebbtide) -> Ebbtide:
    """Four memories of people and a skill, and one of neither that says as much of Rust."""
    memory.remember("Ana knows Rust well", **named("Ana", "PERSON"))
    memory.remember("Ben learns Rust", **named("Rust", "SKILL"))
    memory.remember("Cleo knows nothing of Rust", **named("Cleo", "PERSON"))
    memory.remember("The Rust harbour is known to all who know", **named("Rust", "PLACE"))
    memory.remember("who knows Rust")
    return memory


def told(
    memory: Ebbtide, query: str = QUERY, profile: Profile = ROUTED, **asked: Any
) -> tuple[set[str], Routing | None]:
    answer = memory.recall(query, profile=profile, trace=True, **asked)
    assert answer.trace is not None
    assert {one.id for one in answer.hits} <= {one.id for one in answer.trace.candidates}
    return {hit.content for hit in answer}, answer.trace.routing


def statistics(owner: Any) -> dict[tuple[str, str, str], float]:
    rows = owner.execute("SELECT user_id, term, entity_type, matches FROM route_statistic").fetchall()
    return {(user, term, type_): matches for user, term, type_, matches in rows}


def recall_flushed(memory: Ebbtide, query: str, times: int = 1, **asked: Any) -> Recall:
    answers = [memory.recall(query, profile=ROUTED, **asked) for _ in range(times)]
    memory.audit.entries()
    return answers[-1]


@pytest.mark.parametrize(
    ("query", "types"),
    [
        ("who knows Rust", ("PERSON", "SKILL")),
        ("Auth0 migration", ("PROJECT", "COMPANY")),
        ("my presentation", ("EVENT", "PROJECT")),
        ("who works on ML", ("PERSON", "SKILL")),
    ],
)
def test_the_examples_of_the_text_are_predicted_from_a_query(
    store: Ebbtide, query: str, types: tuple[str, ...]
) -> None:
    _, routed = told(store, query)
    assert routed is not None
    assert routed.types == types


def test_only_what_mentions_such_an_entity_is_searched(store: Ebbtide) -> None:
    contents, routed = told(store)
    assert contents == {"Ana knows Rust well", "Ben learns Rust", "Cleo knows nothing of Rust"}
    assert routed == Routing(types=("PERSON", "SKILL"), entities=3, outcome="restricted")
    contents, routed = told(store, profile=TIDE, limit=5)
    assert len(contents) == 5
    assert routed is None


@pytest.mark.parametrize("law", ["sum", "boost", "compound"])
def test_it_is_the_same_under_every_law(store: Ebbtide, law: str) -> None:
    base = next(one for one in PRESETS.values() if one.law == law)
    profile = base.model_copy(update={"name": "own", "routing": "on", "gates": TIDE.gates})
    contents, routed = told(store, profile=profile)
    assert contents == {"Ana knows Rust well", "Ben learns Rust", "Cleo knows nothing of Rust"}
    assert routed is not None
    assert routed.outcome == "restricted"


def test_it_is_off_unless_a_profile_says_so(store: Ebbtide) -> None:
    assert {profile.routing for profile in BUILT_IN.values()} == {"off"}
    with pytest.raises(InvalidProfile, match="routing"):
        Profile(name="own", law="listwise", routing="maybe")  # type: ignore[arg-type]


def test_too_few_hits_of_the_types_and_the_whole_scope_is_searched(store: Ebbtide) -> None:
    ana = next(hit for hit in store.recall("Ana", profile=TIDE) if hit.content.startswith("Ana"))
    store.forget(ana.id, expected_revision=1)
    contents, routed = told(store)
    assert "who knows Rust" in contents
    assert routed == Routing(types=("PERSON", "SKILL"), entities=2, outcome="too_few")
    contents, routed = told(store, limit=2)
    assert contents == {"Ben learns Rust", "Cleo knows nothing of Rust"}
    assert routed is not None
    assert routed.outcome == "restricted"


def test_where_nobody_of_the_types_is_known_the_whole_scope_is_searched(store: Ebbtide) -> None:
    contents, routed = told(store, "my presentation of the harbour")
    assert len(contents) == 5
    assert routed is not None
    assert (routed.entities, routed.outcome) == (0, "too_few")


def test_words_of_which_nothing_is_known_restrict_nothing(store: Ebbtide) -> None:
    contents, routed = told(store, "harbour")
    assert len(contents) == 5
    assert routed == Routing(types=(), entities=0, outcome="unsure")


def test_eight_types_restrict_nothing(store: Ebbtide, owner: Any) -> None:
    for type_ in ("PERSON", "COMPANY", "PROJECT", "SKILL", "EVENT", "PLACE", "PRODUCT", "TOPIC"):
        owner.execute(
            "INSERT INTO route_statistic VALUES ('default', 'default', '', 'harbour', %s, 20, '2026-03-01')", [type_]
        )
    contents, routed = told(store, "harbour")
    assert len(contents) == 5
    assert routed is not None
    assert (len(routed.types), routed.entities, routed.outcome) == (8, 0, "unsure")


def test_at_most_500_entities_those_that_most_mention_first(
    store: Ebbtide, monkeypatch: pytest.MonkeyPatch, clock: FixedClock
) -> None:
    assert routing.MOST_ENTITIES == 500
    clock.advance(timedelta(hours=1))
    store.remember("Ana wrote the Rust book", **named("Ana", "PERSON"))
    store.remember("Dan knows Rust", **named("Dan", "PERSON"))
    monkeypatch.setattr(routing, "MOST_ENTITIES", 2)
    contents, routed = told(store)
    assert contents == {"Ana knows Rust well", "Ana wrote the Rust book", "Dan knows Rust"}
    assert routed is not None
    assert routed.entities == 2


def test_use_changes_what_is_predicted(store: Ebbtide, owner: Any) -> None:
    for number in range(3):
        store.remember(f"the tide table of pier {number}", **named(f"Pier {number}", "PLACE"))
    query = "tide table"
    assert told(store, query, limit=3)[1] == Routing(types=(), entities=0, outcome="unsure")
    store.audit.entries()
    assert statistics(owner) == {("", "tabl", "PLACE"): 1.0, ("", "tide", "PLACE"): 1.0}
    recall_flushed(store, query, 4, limit=3)
    contents, routed = told(store, query, limit=3)
    assert routed == Routing(types=("PLACE",), entities=4, outcome="restricted")
    assert contents == {f"the tide table of pier {number}" for number in range(3)}


def test_a_restricted_search_teaches_nothing_and_one_that_fell_back_does(store: Ebbtide, owner: Any) -> None:
    recall_flushed(store, QUERY)
    assert statistics(owner) == {}
    ana = next(hit for hit in store.recall("Ana", profile=TIDE) if hit.content.startswith("Ana"))
    store.forget(ana.id, expected_revision=1)
    recall_flushed(store, QUERY)
    assert statistics(owner) == {
        ("", word, type_): pytest.approx(0.25) for word in ("know", "rust") for type_ in ("PERSON", "SKILL", "PLACE")
    }


def test_nothing_is_learnt_without_it_of_the_past_of_personal_data_or_where_no_log_is_kept(
    store: Ebbtide, open_store: Any, settings: Any, owner: Any, clock: FixedClock
) -> None:
    store.recall("harbour", profile=TIDE)
    store.context("harbour", profile=TIDE)
    clock.advance(timedelta(hours=1))
    answer = store.recall("harbour", profile=ROUTED, as_of=clock.now() - timedelta(minutes=1), trace=True)
    assert answer.trace is not None
    assert answer.trace.routing is None
    recall_flushed(store, "harbour of ana@example.com")
    store.explain("harbour", answer.hits[0].id, profile=ROUTED)
    unlogged = open_store(settings=settings.model_copy(update={"recall_log_days": 0}))
    recall_flushed(unlogged, "harbour")
    store.audit.entries()
    assert statistics(owner) == {}
    recall_flushed(store, "harbour")
    assert len(statistics(owner)) == 3


def test_an_agent_without_entities_asks_nothing_of_it(memory: Ebbtide, owner: Any) -> None:
    memory.remember("who knows Rust")
    assert told(memory) == ({"who knows Rust"}, None)
    memory.audit.entries()
    assert statistics(owner) == {}


def test_forgotten_memories_route_nowhere(store: Ebbtide) -> None:
    for hit in store.recall(QUERY, profile=ROUTED).hits:
        store.forget(hit.id, expected_revision=1)
    contents, routed = told(store)
    assert contents == {"The Rust harbour is known to all who know", "who knows Rust"}
    assert routed is not None
    assert (routed.entities, routed.outcome) == (0, "too_few")


def test_a_filter_and_a_policy_hold_within_the_restriction(store: Ebbtide) -> None:
    store.remember("Dan knows Rust", namespace="vector.secret", **named("Dan", "PERSON"))
    assert told(store)[1] == Routing(types=("PERSON", "SKILL"), entities=4, outcome="restricted")
    store.policies.set("default", Policy(read=["vector.global.*"]))
    policed = store.as_agent("default", ["memory:read"])
    contents, routed = told(policed)
    assert contents == {"Ana knows Rust well", "Ben learns Rust", "Cleo knows nothing of Rust"}
    assert routed == Routing(types=("PERSON", "SKILL"), entities=3, outcome="restricted")
    store.remember("Eve knows Rust", kind="note", **named("Eve", "PERSON"))
    contents, routed = told(store, kinds=["note"])
    assert contents == {"Eve knows Rust"}
    assert routed is not None
    assert (routed.entities, routed.outcome) == (1, "too_few")


def test_habits_are_of_one_tenant_agent_and_user(store: Ebbtide, owner: Any) -> None:
    ana = store.scoped(user="ana")
    recall_flushed(ana, "harbour", 6, limit=1)
    assert statistics(owner) == {("ana", "harbour", "PLACE"): pytest.approx(6.0)}
    assert told(ana, "harbour", limit=1)[1] == Routing(types=("PLACE",), entities=1, outcome="restricted")
    for other in (store, store.scoped(user="ben")):
        routed = told(other, "harbour", limit=1)[1]
        assert routed is not None
        assert routed.outcome == "unsure"
    for elsewhere in (store.scoped(agent="other", user="ana"), store.scoped(tenant="acme", user="ana")):
        elsewhere.remember("a harbour", **named("Harbour", "PLACE"))
        routed = told(elsewhere, "harbour", limit=1)[1]
        assert routed is not None
        assert routed.types == ()
    recall_flushed(store, "harbour", 6, limit=1)
    routed = told(store.scoped(user="ben"), "harbour", limit=1)[1]
    assert routed is not None
    assert routed.outcome == "restricted"


def test_erasing_a_user_or_a_tenant_erases_habits(store: Ebbtide, owner: Any) -> None:
    recall_flushed(store.scoped(user="ana"), "harbour")
    recall_flushed(store.scoped(user="ben"), "harbour")
    recall_flushed(store, "harbour")
    proof = store.erase_user("ana")
    assert proof.cleaned["routing"] == 3
    assert {user for user, _, _ in statistics(owner)} == {"", "ben"}
    proof = store.erase_tenant(confirm="default")
    assert proof.cleaned["routing"] == 6
    assert statistics(owner) == {}


def test_habits_fade_and_go_with_the_log_of_recalls(store: Ebbtide, owner: Any, clock: FixedClock) -> None:
    recall_flushed(store, "harbour", 6, limit=1)
    assert told(store, "harbour", limit=1)[1] == Routing(types=("PLACE",), entities=1, outcome="restricted")
    clock.advance(timedelta(days=30))
    routed = told(store, "harbour", limit=1)[1]
    assert routed is not None
    assert routed.outcome == "unsure"
    store.audit.entries()
    assert statistics(owner) == {("", "harbour", "PLACE"): pytest.approx(6 / 2 + 1)}
    engine = store.wait_for(store.inner.engine)
    store.wait_for(lambda: tidy_tenant(engine, tenant="default"))
    assert len(statistics(owner)) == 1
    clock.advance(timedelta(days=engine.settings.recall_log_days + 1))
    store.wait_for(lambda: tidy_tenant(engine, tenant="default"))
    assert statistics(owner) == {}


def test_explain_tells_what_left_a_memory_out(store: Ebbtide) -> None:
    left_out = next(hit for hit in store.recall("harbour", profile=TIDE) if "harbour" in hit.content)
    explained = store.explain(QUERY, left_out.id, profile=ROUTED)
    assert (explained.stage, explained.rule, explained.threshold) == ("routing", "routing", "PERSON or SKILL")
    assert "PERSON or SKILL" in explained.reason
    assert explained.routing == Routing(types=("PERSON", "SKILL"), entities=3, outcome="restricted")
    hit = store.recall(QUERY, profile=ROUTED).hits[0]
    assert store.explain(QUERY, hit.id, profile=ROUTED).routing == explained.routing
    assert store.explain(QUERY, left_out.id, profile=TIDE).routing is None
