"""The classifier against a real server that follows a script: right answers, and everything that is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput, ModelInvalid, ModelUnavailable
from ebbtide.models.chat import ChatModel
from ebbtide.models.classifier import HttpClassifier, create_classifier, read_judgement
from tests.conftest import Opener
from tests.models.endpoint import Endpoint, Reply, serve
from tests.stores import SETTINGS

EMPLOYER: dict[str, Any] = {"subject": "Ana", "predicate": "employer"}


def said(content: str) -> Reply:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]}
    return Reply(body=json.dumps(body).encode())


FAILURES = [
    said("They contradict each other, so I would say conflict."),
    said('{"verdict": "supers'),
    said('{"verdict": "maybe"}'),
    said('{"verdict": "supersedes", "because": "newer"}'),
    said('["supersedes"]'),
    said(""),
    Reply(body=b'{"choices": []}'),
    Reply(body=b'{"error": "overloaded"}'),
    Reply(body=b"<html>Bad gateway</html>"),
    Reply(body=b'{"choices": [{"mess'),
    Reply(body=b"{}", status=500),
    Reply(body=b"{}", status=401),
    Reply(body=b"{}", delay_seconds=1.0),
]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as server:
        yield server


@pytest.fixture
def memory(endpoint: Endpoint, open_store: Opener) -> Ebbtide:
    """A handle whose conflicts go to the scripted server first."""
    changed = {"classifier": f"{endpoint.url}#judge", "classifier_api_key": "key", "classifier_timeout_seconds": 0.5}
    return open_store(settings=SETTINGS.model_copy(update=changed))


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "```\n{}\n```", " {}\n"])
@pytest.mark.parametrize("verdict", ["supersedes", "conflict", "compatible"])
def test_a_verdict_is_read(verdict: str, fence: str) -> None:
    reply = said(fence.format(json.dumps({"verdict": verdict})))
    assert reply.body is not None
    assert read_judgement(reply.body) == verdict


@pytest.mark.parametrize(
    ("verdict", "outcome", "holding"),
    [("supersedes", "superseded", 1), ("conflict", "conflict", 2), ("compatible", "stored", 2)],
)
def test_it_settles_what_dates_do_not(
    memory: Ebbtide, endpoint: Endpoint, verdict: str, outcome: str, holding: int
) -> None:
    memory.remember("Northwind", **EMPLOYER)
    assert endpoint.requests == []
    endpoint.script.append(said(json.dumps({"verdict": verdict})))
    assert memory.remember("Contoso", **EMPLOYER).outcome == outcome
    assert len(memory.browse()) == holding
    assert len(memory.conflicts.list()) == (verdict == "conflict")
    [request] = endpoint.requests
    assert json.loads(request["messages"][1]["content"]) == {"older": "Northwind", "newer": "Contoso"}
    assert (request["model"], endpoint.paths, endpoint.authorizations) == (
        "judge", ["/v1/chat/completions"], ["Bearer key"],
    )  # fmt: skip


@pytest.mark.parametrize("failure", FAILURES)
def test_its_failure_leaves_a_conflict_and_loses_nothing(memory: Ebbtide, endpoint: Endpoint, failure: Reply) -> None:
    memory.remember("Northwind", **EMPLOYER)
    endpoint.script.append(failure)
    answer = memory.remember("Contoso", **EMPLOYER)
    assert answer.outcome == "conflict"
    assert len(memory.browse()) == 2
    assert len(memory.conflicts.list()) == 1


def test_it_is_not_asked_where_dates_settle_it(memory: Ebbtide, endpoint: Endpoint) -> None:
    memory.remember("Northwind", valid_from="2024-01-01", **EMPLOYER)
    assert memory.remember("Contoso", valid_from="2025-01-01", **EMPLOYER).outcome == "superseded"
    assert endpoint.requests == []


def test_a_server_that_is_not_there_loses_nothing(open_store: Opener) -> None:
    memory = open_store(settings=SETTINGS.model_copy(update={"classifier": "http://127.0.0.1:9#judge"}))
    memory.remember("Northwind", **EMPLOYER)
    assert memory.remember("Contoso", **EMPLOYER).outcome == "conflict"


async def test_its_errors_name_no_key(endpoint: Endpoint) -> None:
    classifier = HttpClassifier(ChatModel(endpoint.url + "/v1/", "judge", api_key="secret-key", timeout_seconds=0.5))
    for failure in FAILURES:
        endpoint.script.append(failure)
        with pytest.raises((ModelInvalid, ModelUnavailable)) as caught:
            await classifier.judge("a", "b")
        assert "secret-key" not in str(caught.value)
    await classifier.close()
    assert set(endpoint.paths) == {"/v1/chat/completions"}


@pytest.mark.parametrize("spec", ["local", "http://localhost", "localhost#model", "ftp://host#model", "#model"])
def test_a_setting_that_names_none_is_refused(spec: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        create_classifier(spec)
    assert caught.value.field == "classifier"


@pytest.mark.parametrize("spec", [None, "", "  "])
def test_none_is_the_default(spec: str | None) -> None:
    assert create_classifier(spec) is None
