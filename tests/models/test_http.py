"""The HTTP embedder against a real server: order, retries, and every way an answer can be wrong."""

from __future__ import annotations

import json
import socket
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from time import monotonic

import numpy as np
import pytest

from ebbtide.errors import InvalidInput, ModelInvalid, ModelUnavailable
from ebbtide.models import HttpEmbedder, ModelIdentity
from tests.models.endpoint import Endpoint, Reply, answer, serve, vector_of

API_KEY = "sk-very-secret-0123456789"
TEXTS = ["a", "bb", "ccc", "dddd", "eeeee"]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as running:
        yield running


@pytest.fixture
async def embedder(endpoint: Endpoint) -> AsyncIterator[HttpEmbedder]:
    opened = HttpEmbedder(
        endpoint.url, "some-model", dimension=3, api_key=API_KEY, retries=2, backoff_seconds=0.01, timeout_seconds=5
    )
    yield opened
    await opened.close()


def expected(texts: list[str]) -> np.ndarray:
    rows = np.array([vector_of(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


async def test_vectors_come_in_the_order_of_the_texts_and_of_length_one(
    endpoint: Endpoint, embedder: HttpEmbedder
) -> None:
    vectors = await embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-6)
    assert endpoint.requests == [{"model": "some-model", "input": TEXTS, "encoding_format": "float"}]
    assert endpoint.authorizations == [f"Bearer {API_KEY}"]


async def test_batches_keep_the_order(endpoint: Endpoint) -> None:
    embedder = HttpEmbedder(endpoint.url, "m", dimension=3, batch_size=2, concurrency=3)
    np.testing.assert_allclose(await embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)
    assert sorted(len(request["input"]) for request in endpoint.requests) == [1, 2, 2]
    assert endpoint.authorizations == [None] * 3
    await embedder.close()


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("", "/v1/embeddings"),
        ("/", "/v1/embeddings"),
        ("/v1", "/v1/embeddings"),
        ("/v1/", "/v1/embeddings"),
        ("/api/v3", "/api/v3/embeddings"),
        ("/gateway", "/gateway/v1/embeddings"),
        ("/v1/embeddings", "/v1/embeddings"),
        ("/deployments/x/embeddings?version=2", "/deployments/x/embeddings?version=2"),
    ],
)
async def test_the_url_may_be_the_server_the_api_or_the_endpoint(endpoint: Endpoint, given: str, path: str) -> None:
    embedder = HttpEmbedder(endpoint.url + given, "m", dimension=3)
    await embedder.embed(["a"])
    await embedder.close()
    assert endpoint.paths == [path]


async def test_an_unknown_dimension_is_found_by_one_probe(endpoint: Endpoint) -> None:
    embedder = HttpEmbedder(endpoint.url, "m")
    with pytest.raises(ModelUnavailable, match="not known yet") as caught:
        _ = embedder.identity
    assert caught.value.field == "dimension"
    assert (await embedder.embed([])).shape == (0, 3)
    assert await embedder.probe() == embedder.identity == ModelIdentity("m", 3)
    assert len(endpoint.requests) == 1
    await embedder.close()


async def test_texts_are_made_acceptable(endpoint: Endpoint) -> None:
    embedder = HttpEmbedder(endpoint.url, "m", dimension=3, max_characters=4)
    await embedder.embed(["", " \n", "lone \ud800"[-3:], "123456"])
    await embedder.close()
    assert endpoint.requests[0]["input"] == [" ", " ", "e ?", "1234"]


@pytest.mark.parametrize("failure", [Reply(b"busy", 429), Reply(b"", 500), Reply(b"<html>", 503)])
async def test_a_passing_failure_is_tried_again(endpoint: Endpoint, embedder: HttpEmbedder, failure: Reply) -> None:
    endpoint.script = [failure, failure]
    np.testing.assert_allclose(await embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)
    assert len(endpoint.requests) == 3


async def test_a_lasting_failure_is_given_up(endpoint: Endpoint, embedder: HttpEmbedder) -> None:
    endpoint.script = [Reply(b"", 500)] * 9
    with pytest.raises(ModelUnavailable, match="answers with status 500"):
        await embedder.embed(TEXTS)
    assert len(endpoint.requests) == 3


async def test_the_pause_the_server_asks_for_is_kept(endpoint: Endpoint, embedder: HttpEmbedder) -> None:
    endpoint.script = [Reply(b"", 429, {"Retry-After": "1"})]
    start = monotonic()
    await embedder.embed(TEXTS)
    assert monotonic() - start >= 1.0


async def test_a_pause_of_an_hour_is_not_waited_for(endpoint: Endpoint, embedder: HttpEmbedder) -> None:
    endpoint.script = [Reply(b"", 429, {"Retry-After": "3600"})]
    with pytest.raises(ModelUnavailable, match="status 429"):
        await embedder.embed(TEXTS)
    assert len(endpoint.requests) == 1


async def test_a_server_that_is_late_is_tried_again_then_given_up(endpoint: Endpoint) -> None:
    embedder = HttpEmbedder(endpoint.url, "m", dimension=3, timeout_seconds=0.5, retries=1, backoff_seconds=0.01)
    endpoint.script = [Reply(delay_seconds=1.0)] * 2
    with pytest.raises(ModelUnavailable, match=r"no answer within 0\.5 s") as caught:
        await embedder.embed(TEXTS)
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert len(endpoint.requests) == 2
    await embedder.close()


async def test_no_server_at_all() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        embedder = HttpEmbedder(f"http://127.0.0.1:{port}", "m", retries=1, backoff_seconds=0.01)
        with pytest.raises(ModelUnavailable, match=f"127.0.0.1:{port} cannot be reached"):
            await embedder.probe()
        await embedder.close()


async def test_an_answer_cut_off_by_the_network_is_tried_again(endpoint: Endpoint, embedder: HttpEmbedder) -> None:
    endpoint.script = [Reply(b'{"data": [', headers={"Content-Length": "5000", "Connection": "close"})]
    np.testing.assert_allclose(await embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html><body>Welcome to nginx!</body></html>", "Invalid JSON"),
        (b"Sure, here are your embeddings!", "Invalid JSON"),
        (answer([[1.0, 2.0, 3.0]])[:-20], "Invalid JSON"),
        (b"", "Invalid JSON"),
        (b"null", "the body"),
        (b"[]", "the body"),
        (b'{"error": "model not loaded"}', "data: Field required"),
        (b'{"data": []}', "2 texts and its 0 vectors"),
        (answer([[1, 2, 3]]), "2 texts and its 1 vectors"),
        (answer([[1, 2, 3]] * 3), "2 texts and its 3 vectors"),
        (answer([[1, 2, 3]] * 2).replace(b'"index": 1', b'"index": 0'), "do not match"),
        (answer([[1, 2, 3]] * 2).replace(b'"index": 1', b'"position": 1'), "index: Field required"),
        (answer([[1, 2, 3, 4]] * 2), "4 dimensions, not 3"),
        (answer([[1, 2, 3], [1, 2]]), "differ in dimension"),
        (answer([[], []]), "empty"),
        (answer([[1, 2, 3], [1, float("nan"), 3]]), "not finite"),
        (answer([[1, 2, 3], [1, float("inf"), 3]]), "not finite"),
        (answer([[1, 2, 3], [1e300, 1e300, 1e300]]), "not finite"),
        (answer([[1, 2, 3], [0, 0, 0]]), "zero"),
        (answer([[1, 2, 3], [1, None, 3]]), "valid number"),
        (answer([[1, 2, 3], "AACAPwAAAEA="]), "valid array"),
        (b'{"data": "\xff\xfe"}', "Invalid JSON"),
    ],
)
async def test_a_wrong_answer_is_refused_without_another_try(
    endpoint: Endpoint, embedder: HttpEmbedder, body: bytes, message: str
) -> None:
    endpoint.script = [Reply(body)]
    with pytest.raises(ModelInvalid, match=message):
        await embedder.embed(["first", "second"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
async def test_a_refusal_is_not_tried_again_and_never_shows_the_key(
    endpoint: Endpoint, embedder: HttpEmbedder, status: int
) -> None:
    body = b'{"error": {"message": "not with ' + API_KEY.encode() + b', my friend"}}'
    endpoint.script = [Reply(body, status)]
    with pytest.raises(ModelInvalid, match=f"status {status}") as caught:
        await embedder.embed(TEXTS)
    assert len(endpoint.requests) == 1
    assert API_KEY not in "".join(traceback.format_exception(caught.value))
    assert API_KEY not in repr(embedder)
    if status in (401, 403):
        assert caught.value.field == "api_key"
        assert "friend" not in str(caught.value)
    else:
        assert "not with ***, my friend" in str(caught.value)


@pytest.mark.parametrize("said", ["cannot embed {}", "{} is bad", "near '{0:.24}' (cut)", "NOT EMBEDDED: {}"])
async def test_a_refusal_that_quotes_a_text_is_not_repeated(
    endpoint: Endpoint, embedder: HttpEmbedder, said: str
) -> None:
    text = "Ana's number is 079 555 12 34"
    endpoint.script = [Reply(json.dumps({"error": {"message": said.format(text)}}).encode(), 400)]
    with pytest.raises(ModelInvalid, match="status 400") as caught:
        await embedder.embed(["other", text])
    assert "Ana" not in "".join(traceback.format_exception(caught.value))


async def test_an_error_in_one_of_several_batches_is_raised_as_itself(endpoint: Endpoint) -> None:
    embedder = HttpEmbedder(endpoint.url, "m", dimension=3, batch_size=1, retries=0)
    endpoint.script = [Reply(), Reply(b"", 500)]
    with pytest.raises(ModelUnavailable, match="status 500"):
        await embedder.embed(TEXTS)
    await embedder.close()


async def test_the_password_in_a_url_is_used_and_never_shown(endpoint: Endpoint) -> None:
    embedder = HttpEmbedder(endpoint.url.replace("//", "//me:passw0rd@"), "m", retries=0)
    endpoint.script = [Reply(b"", 500), Reply(b"", 404)]
    for error in (ModelUnavailable, ModelInvalid):
        with pytest.raises(error) as caught:
            await embedder.embed(TEXTS)
        assert "passw0rd" not in "".join(traceback.format_exception(caught.value))
    assert str(endpoint.authorizations[0]).startswith("Basic ")
    await embedder.close()


@pytest.mark.parametrize(
    ("create", "field"),
    [
        (lambda: HttpEmbedder("localhost:11434", "m"), "url"),
        (lambda: HttpEmbedder("ftp://localhost", "m"), "url"),
        (lambda: HttpEmbedder("http://", "m"), "url"),
        (lambda: HttpEmbedder("http://host:port", "m"), "url"),
        (lambda: HttpEmbedder("http://localhost", " "), "model"),
        (lambda: HttpEmbedder("http://localhost", "m", api_key="two words"), "api_key"),
        (lambda: HttpEmbedder("http://localhost", "m", api_key="schlüssel"), "api_key"),
        (lambda: HttpEmbedder("http://localhost", "m", dimension=0), "dimension"),
        (lambda: HttpEmbedder("http://localhost", "m", batch_size=0), "batch_size"),
        (lambda: HttpEmbedder("http://localhost", "m", concurrency=0), "concurrency"),
        (lambda: HttpEmbedder("http://localhost", "m", retries=-1), "retries"),
        (lambda: HttpEmbedder("http://localhost", "m", timeout_seconds=float("nan")), "timeout_seconds"),
    ],
)
def test_an_unusable_argument_is_named(create: Callable[[], HttpEmbedder], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        create()
    assert caught.value.field == field


async def test_a_line_break_after_the_key_is_dropped(endpoint: Endpoint) -> None:
    embedder = HttpEmbedder(endpoint.url, "m", dimension=3, api_key=f"{API_KEY}\n")
    await embedder.embed(["a"])
    await embedder.close()
    assert endpoint.authorizations == [f"Bearer {API_KEY}"]


def test_tokens_are_estimated() -> None:
    embedder = HttpEmbedder("http://localhost", "m")
    assert [embedder.count_tokens("x" * length) for length in (0, 1, 4, 5, 400)] == [0, 1, 1, 2, 100]
