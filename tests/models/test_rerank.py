"""The HTTP reranker against a real server that follows a script, what any reranker may answer, and the setting."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from ebbtide.errors import InvalidInput, ModelError, ModelInvalid, ModelUnavailable
from ebbtide.models.cross_encoder import OnnxReranker
from ebbtide.models.fake import FakeReranker
from ebbtide.models.rerank import HttpReranker, ask, create_reranker, read_scores
from tests.models.endpoint import Endpoint, Reply, rerank_answer, serve
from tests.models.tiny_cross_encoder import write_cross_encoder
from tests.stores import SETTINGS

QUERY = "when does the ferry leave"
DOCUMENTS = ["Ana likes oranges", "the ferry does not leave", "a secret of Ana"]


def results(*pairs: tuple[Any, Any]) -> bytes:
    return json.dumps({"results": [{"index": index, "relevance_score": score} for index, score in pairs]}).encode()


UNUSABLE: dict[str, bytes] = {
    "no JSON": b"<html>Bad gateway</html>",
    "half an answer": b'{"results": [{"index": 0, "relev',
    "nothing": b"",
    "an error": b'{"message": "too many tokens in: a secret of Ana"}',
    "a list": b"[]",
    "no results": b'{"results": null}',
    "no score": b'{"results": [{"index": 0}, {"index": 1}, {"index": 2}]}',
    "a score in words": results((0, "0.5"), (1, 0.5), (2, 0.5)),
    "an index in words": results(("0", 0.5), (1, 0.5), (2, 0.5)),
    "an index beyond": results((0, 0.5), (1, 0.5), (3, 0.5)),
    "an index below": results((-1, 0.5), (1, 0.5), (2, 0.5)),
    "an index twice": results((0, 0.5), (1, 0.5), (1, 0.5)),
    "too few": results((0, 0.5), (1, 0.5)),
    "too many": results((0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5)),
    "not a number": results((0, float("nan")), (1, 0.5), (2, 0.5)),
    "infinite": results((0, float("inf")), (1, 0.5), (2, 0.5)),
    "beyond every double": b'{"results": [' + b'{"index": 0, "relevance_score": 1e999}, ' * 3 + b"]}",
    "a huge number": results((0, 1e308), (1, 0.5), (2, 0.5)),
    "logits": results((0, 4.2), (1, -7.5), (2, 0.5)),
}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as server:
        yield server


@pytest.fixture
async def reranker(endpoint: Endpoint) -> AsyncIterator[HttpReranker]:
    made = HttpReranker(endpoint.url, "rerank-v3.5", api_key="the-key\n")
    yield made
    await made.close()


async def test_the_request_is_cohere_s(endpoint: Endpoint, reranker: HttpReranker) -> None:
    scores = await reranker.rerank(QUERY, DOCUMENTS)
    assert endpoint.requests == [{"model": "rerank-v3.5", "query": QUERY, "documents": DOCUMENTS, "top_n": 3}]
    assert endpoint.paths == ["/v2/rerank"]
    assert endpoint.authorizations == ["Bearer the-key"]
    # The server answers the best first; the scores come in the order of the documents.
    np.testing.assert_allclose(scores, [0.0, 0.8, 0.0])


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("", "/v2/rerank"),
        ("/", "/v2/rerank"),
        ("/v1", "/v1/rerank"),
        ("/v2/", "/v2/rerank"),
        ("/rerank", "/rerank"),
        ("/v2/rerank", "/v2/rerank"),
        ("/proxy", "/proxy/v2/rerank"),
        ("/proxy/rerank?region=eu", "/proxy/rerank?region=eu"),
    ],
)
async def test_the_path_is_completed_or_taken_as_it_is(endpoint: Endpoint, given: str, asked: str) -> None:
    made = HttpReranker(endpoint.url + given, "m")
    await made.rerank("ferry", ["ferry"])
    await made.close()
    assert endpoint.paths == [asked]
    assert endpoint.authorizations == [None]


async def test_no_documents_ask_nobody(endpoint: Endpoint, reranker: HttpReranker) -> None:
    assert (await reranker.rerank(QUERY, [])).shape == (0,)
    assert endpoint.requests == []


async def test_texts_are_cut_and_made_sendable(endpoint: Endpoint, reranker: HttpReranker) -> None:
    await reranker.rerank("a \ud800", ["x" * 20_000, "b \udfff"])
    assert endpoint.requests[0]["query"] == "a ?"
    assert [len(document) for document in endpoint.requests[0]["documents"]] == [8_000, 3]


def test_a_cosine_below_zero_counts_as_nothing() -> None:
    assert read_scores(rerank_answer([0.7, -0.2, 0.0]), 3).tolist() == [0.7, 0.0, 0.0]


@pytest.mark.parametrize("body", UNUSABLE.values(), ids=UNUSABLE.keys())
async def test_an_answer_that_is_none_is_told_without_a_word_of_the_documents(
    endpoint: Endpoint, reranker: HttpReranker, body: bytes
) -> None:
    endpoint.script.append(Reply(body=body))
    with pytest.raises(ModelInvalid) as caught:
        await ask(reranker, QUERY, DOCUMENTS, timeout_seconds=10)
    assert "secret" not in str(caught.value)
    assert len(str(caught.value)) < 300


async def test_an_answer_longer_than_any_is_not_read_to_its_end(
    endpoint: Endpoint, reranker: HttpReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ebbtide.models.rerank.LONGEST_ANSWER_BYTES", 1_000)
    endpoint.script.append(Reply(body=results((0, 0.5), (1, 0.5), (2, 0.5)) + b" " * 10_000))
    with pytest.raises(ModelInvalid, match="longer than 1,000 bytes"):
        await reranker.rerank(QUERY, DOCUMENTS)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(429, ModelUnavailable), (500, ModelUnavailable), (503, ModelUnavailable), (400, ModelInvalid),
     (401, ModelInvalid), (403, ModelInvalid), (404, ModelInvalid), (301, ModelInvalid), (204, ModelInvalid)],
)  # fmt: skip
async def test_a_refusal_is_told_by_its_status_and_nothing_is_sent_again(
    endpoint: Endpoint, reranker: HttpReranker, status: int, kind: type[ModelError]
) -> None:
    body = b"" if status == 204 else b'{"message": "a secret of Ana, the-key"}'
    endpoint.script.append(Reply(body=body, status=status))
    with pytest.raises(kind, match=str(status)) as caught:
        await reranker.rerank(QUERY, DOCUMENTS)
    assert "secret" not in str(caught.value)
    assert "the-key" not in str(caught.value)
    assert len(endpoint.requests) == 1


async def test_a_late_answer_is_not_waited_for(endpoint: Endpoint, reranker: HttpReranker) -> None:
    endpoint.script.append(Reply(delay_seconds=0.3))
    with pytest.raises(ModelUnavailable, match=r"no answer within 0\.05 s"):
        await ask(reranker, QUERY, DOCUMENTS, timeout_seconds=0.05)
    assert (await ask(reranker, QUERY, DOCUMENTS, timeout_seconds=10))[1] == pytest.approx(0.8)


async def test_an_answer_that_breaks_off_is_none(endpoint: Endpoint, reranker: HttpReranker) -> None:
    endpoint.script.append(Reply(body=results((0, 0.5)), headers={"Content-Length": "1000"}))
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await reranker.rerank(QUERY, DOCUMENTS)


async def test_an_answer_in_another_encoding_is_none(endpoint: Endpoint, reranker: HttpReranker) -> None:
    endpoint.script.append(Reply(body=b"not gzip", headers={"Content-Encoding": "gzip"}))
    with pytest.raises(ModelUnavailable):
        await reranker.rerank(QUERY, DOCUMENTS)


async def test_a_server_that_is_not_there(endpoint: Endpoint) -> None:
    made = HttpReranker("http://user:password@127.0.0.1:1", "m")
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:1") as caught:
        await made.rerank(QUERY, DOCUMENTS)
    await made.close()
    assert "password" not in str(caught.value)


async def test_a_question_can_be_cancelled(endpoint: Endpoint, reranker: HttpReranker) -> None:
    endpoint.script.append(Reply(delay_seconds=0.3))
    with anyio.move_on_after(0.02) as scope:
        await ask(reranker, QUERY, DOCUMENTS, timeout_seconds=10)
    assert scope.cancelled_caught
    assert (await reranker.rerank(QUERY, DOCUMENTS))[1] == pytest.approx(0.8)


class Own:
    """A reranker of the caller's."""

    name = "own"

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    async def rerank(self, query: str, documents: Sequence[str]) -> Any:
        return self.answer()

    async def close(self) -> None:
        pass


async def test_any_list_of_shares_is_an_answer() -> None:
    scores = await ask(Own(lambda: [1, 0.25, 1.0000001]), QUERY, DOCUMENTS, timeout_seconds=1)
    assert scores.tolist() == [1.0, 0.25, 1.0]


@pytest.mark.parametrize(
    "answer",
    [
        lambda: None,
        lambda: [0.5],
        lambda: [[0.5], [0.5], [0.5]],
        lambda: [0.5, float("nan"), 0.5],
        lambda: [0.5, 1.1, 0.5],
        lambda: [0.5, -0.1, 0.5],
        lambda: ["a", "b", "c"],
        lambda: 1 / 0,
        lambda: {}["missing"],
        lambda: exec("raise InvalidInput('of its own')", {"InvalidInput": InvalidInput}),
    ],
)
async def test_whatever_a_caller_s_own_reranker_does_is_a_model_s_error(answer: Callable[[], Any]) -> None:
    with pytest.raises(ModelError, match="reranker"):
        await ask(Own(answer), QUERY, DOCUMENTS, timeout_seconds=1)


async def test_the_fake_counts_the_query_s_words() -> None:
    fake = FakeReranker()
    scores = await fake.rerank("The ferry leaves", ["the FERRY is leaving", "ferrys", "", "ferry " * 9])
    assert scores.tolist() == pytest.approx([1.0, 1 / 3, 0.0, 1 / 3])
    assert (await fake.rerank("?!", ["ferry"])).tolist() == [0.0]
    assert (await fake.rerank("ferry", [])).shape == (0,)
    assert fake.name == "fake"
    await fake.close()


def test_the_setting_names_a_reranker(tmp_path: Path) -> None:
    assert create_reranker(None) is None
    assert create_reranker("  ") is None
    assert isinstance(create_reranker("fake"), FakeReranker)
    assert isinstance(create_reranker(str(write_cross_encoder(tmp_path / "tiny")), threads=2), OnnxReranker)
    made = create_reranker("https://api.cohere.com#rerank-v3.5", api_key="k")
    assert isinstance(made, HttpReranker)
    assert made.name == "rerank-v3.5"


@pytest.mark.parametrize(
    "spec",
    ["unheard-of", "/nowhere", "http://localhost", "http://localhost#", "https://#m", "http://[::#m", "ftp://host#m",
     "a\0b", "fake:3", "http://" + "x" * 70_000 + "#m"],
)  # fmt: skip
def test_a_setting_that_names_none_is_refused(spec: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        create_reranker(spec)
    assert caught.value.field == "reranker"
    assert caught.value.remedy is not None
    assert len(str(caught.value)) < 600


def test_a_key_that_no_header_can_carry_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        create_reranker("http://localhost#m", api_key="two words")
    assert caught.value.field == "reranker_api_key"


def test_fifty_rows_are_the_most() -> None:
    assert SETTINGS.rerank_rows == 50
    for rows in (0, 51):
        with pytest.raises(InvalidInput) as caught:
            type(SETTINGS).from_environment({}, rerank_rows=rows)
        assert caught.value.field == "rerank_rows"
