"""Intents in a recall: whose strategy ranks, who may decide that, what the trace says, and the model's part in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ebbtide import Ebbtide, Policy, classify
from ebbtide.errors import InvalidInput, ModelInvalid, ModelUnavailable
from ebbtide.models.chat import ChatModel
from ebbtide.models.intents import HttpIntentModel, create_intent_model
from ebbtide.rank.strategies import STRATEGIES
from ebbtide.types.recall import INTENTS, Intent, Trace
from tests.conftest import Opener
from tests.models.endpoint import Endpoint, Reply, serve
from tests.stores import SETTINGS

DECISION = "what did I decide about the ferry"
UNKNOWN = "the ferry to Bergen"


@pytest.fixture
def told(memory: Ebbtide) -> Ebbtide:
    """A store with thirty facts and one memory of every other kind of interest."""
    memory.remember_many([f"the ferry decision number {number}" for number in range(30)])
    for kind in ("message", "chunk", "note", "episode"):
        memory.remember(f"the ferry decision as {kind}", kind=kind)
    return memory


def trace_of(memory: Ebbtide, query: str, **asked: Any) -> Trace:
    answer = memory.recall(query, trace=True, **asked)
    assert answer.trace is not None
    assert answer.intent == answer.trace.intent
    return answer.trace


def test_without_an_intent_the_default_profile_ranks_and_the_trace_tells_the_intent(told: Ebbtide) -> None:
    trace = trace_of(told, DECISION)
    assert (trace.profile, trace.intent, trace.intent_by) == ("tide", "decision", "patterns")
    assert trace.intent_confidence == pytest.approx(0.55)
    trace = trace_of(told, UNKNOWN)
    assert (trace.profile, trace.intent, trace.intent_by, trace.intent_confidence) == (
        "tide", "factual", "patterns", 0.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        DECISION,
        "tell me about the ferry",
        "the ferry last week",
        "ferry versus train",
        "who works at the ferry",
        UNKNOWN,
    ],
)
def test_auto_ranks_by_the_strategy_of_the_intent_that_is_found(told: Ebbtide, query: str) -> None:
    intent, confidence = classify(query)
    trace = trace_of(told, query, intent="auto")
    assert (trace.profile, trace.intent, trace.intent_by) == (intent, intent, "patterns")
    assert trace.intent_confidence == confidence


@pytest.mark.parametrize("intent", INTENTS)
def test_a_named_intent_ranks_by_its_strategy(told: Ebbtide, intent: Intent) -> None:
    strategy = STRATEGIES[intent]
    trace = trace_of(told, DECISION, intent=intent)
    assert (trace.profile, trace.intent, trace.intent_by, trace.intent_confidence) == (intent, intent, "caller", 1.0)
    hits = told.recall(DECISION, intent=intent, min_similarity=0)
    assert len(hits) == strategy.limit
    assert {hit.kind for hit in told.recall(DECISION, intent=intent, min_similarity=0, limit=100)} == {
        kind for kind in ("fact", "message", "chunk", "note", "episode") if kind in (strategy.kinds or ())
    }
    assert {hit.kind for hit in told.recall(DECISION, intent=intent, min_similarity=0, kinds="episode")} == {"episode"}


def test_a_decision_weighs_by_quality(memory: Ebbtide) -> None:
    sure = memory.remember("we decided on the blue ferry", confidence=1.0).memory
    unsure = memory.remember("we decided on the blue ferry then", confidence=0.1).memory
    assert sure is not None
    assert unsure is not None
    [first, second] = memory.recall("what did we decide on the blue ferry then", intent="decision", min_similarity=0)
    assert [first.id, second.id] == [sure.id, unsure.id]
    assert second.contributions["quality"] < 0


def test_an_explicit_profile_wins_and_the_intent_is_still_told(told: Ebbtide) -> None:
    for intent in ("auto", "decision"):
        trace = trace_of(told, DECISION, profile="agentium", intent=intent)
        assert (trace.profile, trace.intent) == ("agentium", "decision")


def test_a_saved_profile_of_that_name_is_the_intents_strategy(told: Ebbtide) -> None:
    told.profiles.save(STRATEGIES["decision"].model_copy(update={"limit": 2}))
    assert len(told.recall(DECISION, intent="auto", min_similarity=0)) == 2
    assert len(told.recall(DECISION, intent="decision", min_similarity=0)) == 2
    assert len(told.recall("tell me about the ferry", intent="auto", min_similarity=0)) == 20


@pytest.mark.parametrize("intent", ["guess", "", "Decision", b"auto", 3, True, ["decision"], float("nan"), "\ud800"])
def test_an_unknown_intent_is_refused_with_those_there_are(told: Ebbtide, intent: Any) -> None:
    for verb in (told.recall, told.context, lambda query, **asked: told.explain(query, told.browse()[0].id, **asked)):
        with pytest.raises(InvalidInput) as refusal:
            verb(DECISION, intent=intent)
        assert refusal.value.field == "intent"
        assert all(name in (refusal.value.remedy or "") for name in (*INTENTS, "auto"))


def test_context_and_explain_take_an_intent(told: Ebbtide) -> None:
    assert len(told.context(DECISION, intent="decision", min_similarity=0).ids) == 5
    [chunk] = told.browse(kinds="chunk")
    explained = told.explain(DECISION, chunk.id, intent="decision")
    assert (explained.returned, explained.rule) == (False, "filter")
    hit = told.recall(DECISION, intent="auto", min_similarity=0)[0]
    explained = told.explain(DECISION, hit.id, intent="auto", min_similarity=0)
    assert (explained.rank, explained.relevance, explained.contributions) == (1, hit.relevance, hit.contributions)


def test_a_policys_profile_wins_over_an_intent_and_says_so(told: Ebbtide) -> None:
    told.policies.set("default", Policy(read=("*",), profile="agentium"))
    helper = told.as_agent("default", "memory:read")
    for intent in ("auto", "decision"):
        answer = helper.recall(DECISION, intent=intent, trace=True)
        assert answer.trace is not None
        assert answer.trace.profile == "agentium"
        assert any("agentium" in warning for warning in answer.warnings)
    assert helper.recall(DECISION).warnings == ()
    told.policies.set("default", Policy(read=("*",), top_k=3))
    helper = told.as_agent("default", "memory:read")
    assert len(helper.recall(DECISION, intent="decision", min_similarity=0)) == 3


def said(content: str) -> Reply:
    return Reply(body=json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode())


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as server:
        yield server


@pytest.fixture
def modelled(endpoint: Endpoint, open_store: Opener) -> Ebbtide:
    """A handle that asks a scripted server what a query wants where no phrase tells it."""
    changed = {
        "intent_model": f"{endpoint.url}#small",
        "intent_model_api_key": "key",
        "intent_model_timeout_seconds": 0.5,
    }
    memory = open_store(settings=SETTINGS.model_copy(update=changed))
    memory.remember("the ferry to Bergen leaves at nine")
    return memory


@pytest.mark.parametrize("intent", INTENTS)
def test_the_model_names_the_intent_of_a_query_without_a_phrase(
    modelled: Ebbtide, endpoint: Endpoint, intent: Intent
) -> None:
    endpoint.script.append(said(json.dumps({"intent": intent})))
    trace = trace_of(modelled, UNKNOWN, intent="auto")
    assert (trace.profile, trace.intent, trace.intent_by, trace.intent_confidence) == (intent, intent, "model", 0.4)
    [request] = endpoint.requests
    assert json.loads(request["messages"][1]["content"]) == {"query": UNKNOWN}
    assert (request["model"], endpoint.paths, endpoint.authorizations) == (
        "small", ["/v1/chat/completions"], ["Bearer key"],
    )  # fmt: skip


def test_the_model_is_asked_once_for_a_query(modelled: Ebbtide, endpoint: Endpoint) -> None:
    endpoint.script.append(said('{"intent": "temporal"}'))
    for _ in range(3):
        assert trace_of(modelled, UNKNOWN, intent="auto").intent == "temporal"
    assert len(endpoint.requests) == 1
    endpoint.script.append(said('{"intent": "exploratory"}'))
    other = modelled.scoped(tenant="another")
    assert trace_of(other, UNKNOWN, intent="auto").intent == "exploratory"
    assert len(endpoint.requests) == 2


def test_the_model_is_not_asked_where_its_answer_would_change_nothing(modelled: Ebbtide, endpoint: Endpoint) -> None:
    assert trace_of(modelled, UNKNOWN).intent == "factual"
    assert trace_of(modelled, UNKNOWN, profile="eryx", intent="auto").intent == "factual"
    assert trace_of(modelled, UNKNOWN, intent="decision").intent == "decision"
    assert trace_of(modelled, DECISION, intent="auto").intent == "decision"
    assert endpoint.requests == []


FAILURES = [
    said("It is a decision."),
    said('{"intent": "decis'),
    said('{"intent": "guess"}'),
    said('{"intent": "decision", "because": "so"}'),
    said('{"intent": 3}'),
    said(""),
    Reply(body=b'{"choices": []}'),
    Reply(body=b"<html>Bad gateway</html>"),
    Reply(body=b"\xff\xfe"),
    Reply(body=b"{}", status=500),
    Reply(body=b"{}", status=401),
    Reply(body=b"{}", delay_seconds=1.0),
]


@pytest.mark.parametrize("failure", FAILURES)
def test_its_failure_is_a_note_and_the_query_factual(modelled: Ebbtide, endpoint: Endpoint, failure: Reply) -> None:
    endpoint.script.append(failure)
    answer = modelled.recall(UNKNOWN, intent="auto", min_similarity=0, trace=True)
    assert [hit.content for hit in answer] == ["the ferry to Bergen leaves at nine"]
    assert answer.trace is not None
    assert (answer.trace.profile, answer.trace.intent, answer.trace.intent_confidence) == ("factual", "factual", 0.0)
    [warning] = answer.warnings
    assert warning.startswith("the intent is taken as factual: ")
    assert "key" not in warning
    endpoint.script.append(said('{"intent": "temporal"}'))
    assert trace_of(modelled, UNKNOWN, intent="auto").intent == "temporal"


def test_a_server_that_is_not_there_costs_no_recall(open_store: Opener) -> None:
    memory = open_store(settings=SETTINGS.model_copy(update={"intent_model": "http://127.0.0.1:9#small"}))
    memory.remember("the ferry to Bergen leaves at nine")
    answer = memory.recall(UNKNOWN, intent="auto", min_similarity=0)
    assert (len(answer), len(answer.warnings), answer.intent) == (1, 1, "factual")


async def test_only_the_beginning_of_a_long_query_is_sent_and_errors_name_no_key(endpoint: Endpoint) -> None:
    model = HttpIntentModel(ChatModel(endpoint.url, "small", api_key="secret-key", timeout_seconds=0.5))
    for failure in FAILURES:
        endpoint.script.append(failure)
        with pytest.raises((ModelInvalid, ModelUnavailable)) as caught:
            await model.intent("x" * 5_000)
        assert "secret-key" not in str(caught.value)
    await model.close()
    assert {len(json.loads(request["messages"][1]["content"])["query"]) for request in endpoint.requests} == {2_000}


@pytest.mark.parametrize("spec", ["local", "http://localhost", "localhost#model", "ftp://host#model", "#model"])
def test_a_setting_that_names_no_model_is_refused(spec: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        create_intent_model(spec)
    assert caught.value.field == "intent_model"


@pytest.mark.parametrize("spec", [None, "", "  "])
def test_no_model_is_the_default(spec: str | None) -> None:
    assert create_intent_model(spec) is None
