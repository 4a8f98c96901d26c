"""The graph arm: where a walk leads, where it must not, its bounds, and what a trace tells of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.clock import FixedClock
from ebbtide.rank.parts import GraphWalk, TideParameters
from ebbtide.rank.presets import TIDE
from ebbtide.rank.profile import Profile
from ebbtide.types.recall import Trace
from tests.graph_rows import Graph
from tests.stores import SETTINGS

QUERY = "who pays for the route planner"
# So few candidates that what the walk brings was found by nothing else.
NARROW = SETTINGS.model_copy(update={"candidate_rows": 10})


def walking(**walk: Any) -> Profile:
    return TIDE.model_copy(
        update={
            "name": "walking",
            "graph": "on",
            "walk": GraphWalk(**walk),
            "tide": TideParameters(graph_place=1, graph_weight=5),
        }
    )


@pytest.fixture
def settings() -> Any:
    return NARROW


@pytest.fixture
def graph(owner: Any) -> Graph:
    return Graph(owner)


@pytest.fixture
def store(memory: Ebbtide) -> Ebbtide:
    """Forty memories that say more of the query than what the tests link to the first of them."""
    memory.remember_many([f"who pays for planner number {number}" for number in range(40)])
    return memory


def trace_of(memory: Ebbtide, profile: Profile, **asked: Any) -> Trace:
    trace = memory.recall(QUERY, profile=profile, trace=True, **asked).trace
    assert trace is not None
    return trace


def by_graph(memory: Ebbtide, profile: Profile | None = None, **asked: Any) -> set[UUID]:
    trace = trace_of(memory, profile or walking(), **asked)
    return {one.id for one in trace.candidates if one.source == "graph"}


def test_what_shares_an_entity_with_the_best_hit_is_found_and_told_of(store: Ebbtide, graph: Graph) -> None:
    best = store.remember("Kestrel pays for the route planner").memory
    other = store.remember("twenty two percent of all parcels").memory
    graph.entity("Kestrel", best, other, type="COMPANY")
    assert by_graph(store, TIDE) == set()
    trace = trace_of(store, walking())
    told = {one.id: one for one in trace.candidates}
    assert told[other.id].source == "graph"
    assert told[other.id].contributions["graph"] > 0
    assert told[best.id].contributions["graph"] == 0
    assert told[best.id].source == "both"
    hit = next(one for one in store.recall(QUERY, profile=walking()).hits if one.id == other.id)
    assert hit.source == "graph"
    assert sum(hit.contributions.values()) == pytest.approx(hit.relevance)
    explained = store.explain(QUERY, other.id, profile=walking())
    assert explained.contributions["graph"] == pytest.approx(hit.contributions["graph"])


def test_a_name_in_the_query_leads_to_what_mentions_it_under_another(store: Ebbtide) -> None:
    store.remember(
        "the treasurer signs every invoice",
        entities=[{"name": "Route Planner", "type": "project", "aliases": ["Wayfinder"]}],
    )
    found = store.remember("quarterly invoice settled", entities=[{"name": "Wayfinder", "type": "project"}]).memory
    assert found.id in by_graph(store, walking(seeds=0))


def test_a_relation_is_a_step_and_hops_bound_them(store: Ebbtide, graph: Graph) -> None:
    best = store.remember("Kestrel pays for the route planner").memory
    says = store.remember("sold last spring").memory
    further = store.remember("moved to Leeds").memory
    far = store.remember("a warehouse by the canal").memory
    kestrel, owner = graph.entity("Kestrel", best), graph.entity("Heron", far)
    graph.relation(kestrel, "owned_by", owner, says)
    assert by_graph(store, walking(hops=0)) == {says.id}
    assert by_graph(store) == {says.id, far.id}
    leeds = graph.entity("Leeds", further, type="PLACE")
    graph.relation(leeds, "home_of", owner, says)
    assert by_graph(store) == {says.id, far.id}
    assert by_graph(store, walking(hops=2)) == {says.id, far.id, further.id}


def test_seeds_bound_from_how_many_hits_it_walks(store: Ebbtide, graph: Graph) -> None:
    store.remember_many(["who pays for the route planner", "who pays for the route planner now"])
    first, second = store.recall(QUERY, profile=TIDE).hits[:2]
    near, far = (store.remember(text).memory for text in ("a warehouse by the canal", "moved to Leeds"))
    graph.entity("Heron", first, near)
    graph.entity("Kestrel", second, far)
    assert by_graph(store, walking(seeds=0)) == set()
    assert by_graph(store, walking(seeds=1)) == {near.id}
    assert by_graph(store, walking(seeds=2)) == {near.id, far.id}


def test_rows_bound_what_it_brings_and_a_rare_entity_comes_first(store: Ebbtide, graph: Graph) -> None:
    best = store.remember("who pays for the route planner").memory
    rare, *common = (store.remember(f"parcel {number} by the canal").memory for number in range(4))
    graph.entity("Heron", best, rare)
    graph.entity("Kestrel", best, *common)
    assert by_graph(store, walking(rows=1)) == set()
    assert by_graph(store, walking(rows=2)) == {rare.id}
    assert by_graph(store, walking(rows=5)) == {rare.id}
    assert by_graph(store, walking(rows=6)) == {rare.id, *(one.id for one in common)}


def test_it_leads_through_and_to_what_lives_and_holds_alone(store: Ebbtide, graph: Graph, clock: FixedClock) -> None:
    best = store.remember("Kestrel pays for the route planner").memory
    soon, later = clock.now() + timedelta(hours=1), clock.now() + timedelta(hours=2)
    says = store.remember("sold last spring", valid_from=soon, expires_at=later).memory
    far = store.remember("a warehouse by the canal").memory
    gone = store.remember("a barge by the canal").memory
    kestrel, heron = graph.entity("Kestrel", best, gone), graph.entity("Heron", far)
    graph.relation(kestrel, "owned_by", heron, says)
    store.forget(gone.id, expected_revision=1)
    assert by_graph(store) == set()
    assert by_graph(store, valid_at=soon) == {says.id, far.id}
    clock.advance(timedelta(hours=1))
    assert by_graph(store) == {says.id, far.id}
    clock.advance(timedelta(hours=1))
    assert by_graph(store) == set()


def test_a_filter_holds_for_what_it_reaches_and_goes_through(store: Ebbtide, graph: Graph) -> None:
    best = store.remember("Kestrel pays for the route planner").memory
    says = store.remember("sold last spring", kind="note").memory
    far = store.remember("a warehouse by the canal").memory
    graph.relation(graph.entity("Kestrel", best), "owned_by", graph.entity("Heron", far), says)
    assert by_graph(store) == {says.id, far.id}
    assert by_graph(store, kinds=["fact"]) == set()


def test_it_reads_the_store_as_it_was(store: Ebbtide, graph: Graph, clock: FixedClock) -> None:
    best = store.remember("Kestrel pays for the route planner").memory
    before = clock.now()
    clock.advance(timedelta(hours=1))
    graph.entity("Kestrel", best, store.remember("a warehouse by the canal").memory)
    assert by_graph(store, as_of=before) == set()
    assert len(by_graph(store)) == 1


def test_nothing_leads_to_or_through_what_a_policed_agent_may_not_read(store: Ebbtide, graph: Graph) -> None:
    best = store.remember("Kestrel pays for the route planner").memory
    bridge = store.remember("sold last spring", namespace="vector.secret").memory
    secret = store.remember("the price was low", namespace="vector.secret").memory
    far = store.remember("a warehouse by the canal").memory
    kestrel, heron = graph.entity("Kestrel", best, secret), graph.entity("Heron", far)
    graph.relation(kestrel, "owned_by", heron, bridge)
    assert by_graph(store) == {bridge.id, secret.id, far.id}
    store.policies.set("default", Policy(read=["vector.global.*"]))
    policed = store.as_agent("default", ["memory:read"])
    assert by_graph(policed) == set()


def test_a_name_that_only_hidden_memories_use_leads_nowhere(store: Ebbtide) -> None:
    planner = {"name": "Route Planner", "type": "project"}
    store.remember(
        "an alias",
        namespace="vector.secret",
        entities=[{"name": "Wayfinder", "type": "project", "aliases": ["Route Planner"]}],
    )
    found = store.remember("quarterly invoice", entities=[{"name": "Wayfinder", "type": "project"}]).memory
    assert found.id in by_graph(store, walking(seeds=0))
    policed = store.as_agent("default", ["memory:read"])
    store.policies.set("default", Policy(read=["vector.global.*"]))
    assert by_graph(policed, walking(seeds=0)) == set()
    store.remember("the planner", entities=[planner])


def test_forged_rows_of_another_tenant_or_agent_lead_nowhere(memory: Ebbtide, store: Ebbtide, owner: Any) -> None:
    best = store.remember("Kestrel pays for the route planner").memory
    foreign = memory.scoped(agent="other").remember("a warehouse by the canal").memory
    graph = Graph(owner)
    graph.entity("Kestrel", best, foreign)
    elsewhere = Graph(owner, agent="other")
    heron = elsewhere.entity("Heron", store.remember("a barge by the canal").memory)
    owner.execute("INSERT INTO mention VALUES ('default', %s, %s)", [best.id, heron])
    assert by_graph(store) == set()
    other_tenant = memory.scoped(tenant="acme").remember("a barge elsewhere").memory
    owner.execute("SET session_replication_role = replica")
    owner.execute("SELECT set_config('ebbtide.tenant', 'default', false)")
    kestrel = owner.execute("SELECT id FROM entity WHERE name = 'Kestrel'").fetchone()[0]
    owner.execute("INSERT INTO mention VALUES ('default', %s, %s)", [other_tenant.id, kestrel])
    assert by_graph(store) == set()


def test_a_strategy_for_relationships_walks(store: Ebbtide, graph: Graph) -> None:
    best = store.remember("Kestrel pays for the route planner").memory
    other = store.remember("who pays twenty two percent").memory
    graph.entity("Kestrel", best, other)
    hits = store.recall(QUERY, profile="relationship", limit=60).hits
    assert all(
        sum(one.contributions.values()) == pytest.approx(one.relevance) and "graph" in one.contributions for one in hits
    )
    assert next(one for one in hits if one.id == other.id).contributions["graph"] > 0
    assert "graph" not in store.recall(QUERY, profile="factual").hits[0].contributions


def test_an_agent_without_entities_walks_nowhere_and_asks_nothing(store: Ebbtide) -> None:
    assert "graph" not in trace_of(store, walking()).candidates[0].contributions
