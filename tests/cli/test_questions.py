"""recall, context and explain, as JSON and for people."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run

HIT = {"id", "content", "namespace", "kind", "similarity", "relevance", "source", "contributions", "duplicates"}


@pytest.fixture
def told(ebbtide: Run) -> Run:
    """A store with three memories."""
    ebbtide("remember", "The lamp oil is in the shed.", "--label", "factual", "--metadata", '{"customer": 7}')
    ebbtide("remember", "Mrs Ito likes green tea.", "--kind", "preference", "--namespace", "vector.team.guests")
    ebbtide("remember", "The harbour lamp blinks twice.", "--tag", "harbour")
    return ebbtide


def test_recall_has_the_promised_shape(told: Run) -> None:
    ran = told("recall", "Where is the lamp oil?", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert set(ran.json) == {"hits", "nothing_relevant", "trace", "recall_id"}
    assert all(set(hit) == HIT for hit in ran.json["hits"])
    assert ran.json["hits"][0]["content"] == "The lamp oil is in the shed."
    assert ran.json["nothing_relevant"] is False
    assert ran.json["trace"] is None


def test_a_trace_is_given_on_request(told: Run) -> None:
    trace = told("recall", "lamp oil", "--limit", "1", "--trace", "--json").json["trace"]
    assert {drop["rule"] for drop in trace["drops"]} == {"limit"}
    shown = told("recall", "lamp oil", "--trace").out
    assert "words: lamp oil" in shown
    assert "intent: factual, 0.00 by patterns" in shown
    assert "queries:" not in shown
    shown = told("recall", "tell me about lamps and tea", "--profile", "eryx", "--trace").out
    assert "queries: tell me about lamps and tea · lamps · tea" in shown


def test_what_is_no_longer_so_is_told(ebbtide: Run) -> None:
    ebbtide("remember", "Ann lives in Oslo, near the harbour. She is well.", "--kind", "note")
    [fact] = ebbtide("extract", "--kind", "note", "--json").json["texts"][0]["facts"]
    assert "no longer so" not in ebbtide("recall", "Where does Ann live?").out
    ebbtide("invalidate", fact["memory_id"])
    assert "no longer so" in ebbtide("recall", "Where does Ann live?").out
    assert [hit["outdated"] for hit in ebbtide("recall", "Where does Ann live?", "--json").json["hits"]] == [True]


def test_an_unknown_intent_is_refused(told: Run) -> None:
    ran = told("recall", "lamp oil", "--intent", "guess", "--json")
    assert ran.code != 0
    assert ran.json["error"]["field"] == "intent"


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--kind", "preference"], 1),
        (["--kind", "preference", "--kind", "fact"], 3),
        (["--label", "factual"], 1),
        (["--namespace", "vector.team.*"], 1),
        (["--tag", "harbour"], 1),
        (["--tag-none", "harbour"], 2),
        (["--tag-exact", "harbour"], 1),
        (["--where", '{"customer": 7}'], 1),
        (["--where", '{"not": {"customer": 7}}'], 2),
        (["--limit", "2"], 2),
        (["--as-of", "2020-01-01"], 0),
        (["--include-superseded"], 3),
        (["--agent", "another"], 0),
        (["--tenant", "another"], 0),
        (["--intent", "decision", "--min-similarity", "0"], 3),
        (["--intent", "auto", "--min-similarity", "0", "--min-score", "100"], 0),
        (["--profile", "eryx", "--min-similarity", "0", "--min-score", "100"], 0),
        (["--profile", '{"name": "mine", "law": "sum", "factors": [{"factor": "similarity", "weight": 1.0}]}'], 3),
    ],
)
def test_options_are_the_arguments_of_recall(told: Run, options: list[str], found: int) -> None:
    ran = told("recall", "the lamp likes tea", *options, "--json")
    assert ran.code == 0, ran.out
    assert len(ran.json["hits"]) == found


def test_a_query_may_be_piped_in(told: Run) -> None:
    assert told("recall", "--json", stdin="green tea\n").json["hits"][0]["content"] == "Mrs Ito likes green tea."


def test_a_query_may_bring_its_vector(told: Run) -> None:
    assert told("recall", "tea", "--vector", str([1.0] * 384), "--json").code == 0
    assert told("recall", "tea", "--vector", "[1, 2]", "--json").json["error"]["field"] == "vector"


def test_people_see_what_it_is_worth_and_why(told: Run) -> None:
    lines = told("recall", "Where is the lamp oil?", "--limit", "1").out.splitlines()
    assert lines[0].split(maxsplit=1) == ["1", "The lamp oil is in the shed."]
    assert "relevance" in lines[1]
    assert "dense 0.50 + lexical" in lines[1] or "lexical 0.50 + dense" in lines[1]
    assert told("recall", "lamp", "--tenant", "another").out.startswith("Nothing")


def test_full_text_alone_says_so(told: Run) -> None:
    ran = told("recall", "lamp", "--embedder", "none", "--json")
    assert ran.json["warnings"]
    assert ran.json["warnings"][0] in ran.err


def test_context_prints_the_block(told: Run) -> None:
    ran = told("context", "Where is the lamp oil?", "--budget", "200")
    assert ran.out.startswith("MEMORY BLOCK ")
    block = told("context", "Where is the lamp oil?", "--budget", "200", "--json").json
    assert set(block) == {
        "text", "tokens", "nonce", "ids", "omitted", "style", "intent", "budget", "sections", "left_out",
        "serendipity", "recall_id",
    }  # fmt: skip
    assert 0 < block["tokens"] <= 200


def test_context_takes_what_the_verb_does(told: Run) -> None:
    ids = [hit["id"] for hit in told("recall", "lamp oil", "--json").json["hits"]]
    block = told("context", "lamp", "--limit", "1", "--select", ids[-1], "--intent", "decision", "--json").json
    assert (block["ids"][0], block["intent"]) == (ids[-1], "decision")
    assert "selected" in block["sections"]
    assert "FROM THE PROJECT" in told("context", "lamp", "--project", "vector.global").out
    [message] = told("context", "lamp", "--style", "anthropic").json
    assert (message["role"], message["content"][0]["type"]) == ("user", "text")
    [message] = told("context", "lamp", "--style", "openai").json
    assert message["content"].startswith("lamp\n\nMEMORY BLOCK")
    for style in ("openai", "anthropic"):
        plain, as_json = (told("context", "lamp", "--style", style, *more).json for more in ((), ("--json",)))
        assert [set(one) for one in (*plain, *as_json)] == [{"role", "content"}] * 2
    assert told("context", "lamp", "--style", "openai", "--budget", "0", "--json").json == [
        {"role": "user", "content": "lamp"}
    ]
    small = told("context", "lamp oil", "--budget", "90", "--json").json
    assert {one["reason"] for one in small["left_out"]} <= {"no room left", "cut", "over the whole budget"}


def test_explain_says_why_and_why_not(told: Run) -> None:
    hits = told("recall", "lamp oil", "--json").json["hits"]
    first = told("explain", "lamp oil", hits[0]["id"], "--json").json
    assert (first["returned"], first["rank"]) == (True, 1)
    last = told("explain", "lamp oil", hits[-1]["id"], "--limit", "1", "--json").json
    assert (last["returned"], last["rule"]) == (False, "limit")
    assert told("explain", "lamp oil", hits[-1]["id"], "--limit", "1").out.startswith("left out  It ranks 3")


def test_a_budget_that_nothing_fits_is_noted(ebbtide: Run) -> None:
    ebbtide("remember", "The gate code is 11, and the gate is by the pier.")
    ran = ebbtide("context", "gate code", "--budget", 3)
    assert ran.code == 0
    assert "Nothing fits into 3 tokens; 1" in ran.err


def test_a_reranker_is_asked_on_request(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = told("recall", "lamp oil", "--rerank", "--json")
    assert (ran.code, ran.json["error"]["field"]) == (2, "rerank")
    monkeypatch.setenv("EBBTIDE_RERANKER", "fake")
    first, *_ = told("recall", "lamp oil", "--rerank", "--json").json["hits"]
    assert first["rerank"] == 1.0
    assert set(first) == HIT | {"rerank"}
    assert told("explain", "lamp oil", first["id"], "--rerank", "--json").json["rerank"] == 1.0
    assert told("context", "lamp oil", "--rerank").code == 0
    reranking = '{"name": "mine", "law": "listwise", "rerank": true}'
    assert "rerank" in told("recall", "lamp oil", "--profile", reranking, "--json").json["hits"][0]
    assert "rerank" not in told("recall", "lamp oil", "--profile", reranking, "--no-rerank", "--json").json["hits"][0]


def test_a_reranker_that_fails_is_noted(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBBTIDE_RERANKER", "http://127.0.0.1:1#m")
    ran = told("recall", "lamp oil", "--rerank")
    assert ran.code == 0
    assert "not reranked" in ran.err
    assert "lamp oil" in ran.out
