"""Rerankers: any endpoint of Cohere's form, a cross-encoder on this machine, or a fake; and how one is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from anyio import fail_after
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from ebbtide.errors import InvalidInput, ModelError, ModelInvalid, ModelUnavailable
from ebbtide.models.cross_encoder import OnnxReranker
from ebbtide.models.fake import FakeReranker
from ebbtide.models.http import Connections, sendable_key, whole_url
from ebbtide.models.vectors import encodable

if TYPE_CHECKING:
    from httpx import Response

    from ebbtide.models.protocols import Reranker

__all__ = ["HttpReranker", "ask", "create_reranker"]

CHARACTERS_SENT = 8_000
# Fifty scores are a few kilobytes; some servers send the documents back.
LONGEST_ANSWER_BYTES = 8 * 2**20
# Scores are computed in single precision: 1 may arrive as 1.0000001.
TOLERANCE = 1e-6
ALLOWED = (
    "Give `fake`, the folder of a cross-encoder with `model.onnx` and `tokenizer.json`, or an endpoint with its model: "
    "`https://api.cohere.com#rerank-v3.5`."
)


class Result(BaseModel, strict=True, hide_input_in_errors=True):
    """One score of an answer, and which of the request's documents it belongs to."""

    index: int
    relevance_score: float


class Answer(BaseModel, strict=True, hide_input_in_errors=True):
    """The part of an answer that is read; the rest is ignored."""

    results: list[Result]


class HttpReranker:
    """A model behind an endpoint of Cohere's v2 form: Cohere, Jina, vLLM, or a proxy before another server.

    `url` is the server (`https://api.cohere.com`, which is asked at `/v2/rerank`), its API (`https://api.jina.ai/v1`)
    or the endpoint's whole path, which ends in `/rerank`. Nothing is sent again: an answer that is late is of no use.
    Of each document at most 8,000 characters are sent. One instance serves one event loop. Raises `InvalidInput` that
    names `reranker`, or `reranker_api_key`.
    """

    def __init__(self, url: str, model: str, *, api_key: str | None = None) -> None:
        self._endpoint = whole_url(
            url, "/rerank", api="/v2", called="The reranker's URL", field="reranker", remedy=ALLOWED
        )
        # Without the user and password that a URL may hold: this is what errors show.
        self._server = f"{self._endpoint.scheme}://{self._endpoint.netloc.decode('ascii')}"
        self._model = model
        self._connections = Connections(sendable_key(api_key, "reranker_api_key"))

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    async def rerank(self, query: str, documents: Sequence[str]) -> NDArray[np.float64]:
        """The relevance of each document, in their order: shape (documents,), in [0, 1].

        Raises `ModelUnavailable` when the endpoint cannot be reached or answers 429 or 5xx, and `ModelInvalid` when it
        refuses the request otherwise or its answer is not what it should be.
        """
        if not documents:
            return np.zeros(0)
        request: dict[str, object] = {
            "model": self._model,
            "query": encodable(query),
            "documents": [encodable(document[:CHARACTERS_SENT]) for document in documents],
            "top_n": len(documents),
        }
        return read_scores(await self._post(request), len(documents))

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()

    async def _post(self, request: dict[str, object]) -> bytes:
        from httpx import RequestError

        try:
            async with self._connections.client.stream("POST", self._endpoint, json=request) as response:
                self._check_status(response)
                return await read_body(response)
        except RequestError as exc:
            raise ModelUnavailable(
                f"The reranker at {self._server} cannot be reached ({type(exc).__name__}).",
                remedy="Check that it runs and that the URL is right.",
            ) from exc

    def _check_status(self, response: Response) -> None:
        """Raise what a status other than 200 means. What the server says is not passed on: it may quote the request."""
        status = response.status_code
        if status == 200:
            return
        if status == 429 or status >= 500:
            raise ModelUnavailable(
                f"The reranker at {self._server} answers with status {status}.",
                remedy="Check that it is not overloaded; then try again.",
            )
        if status in (401, 403):
            raise ModelInvalid(
                f"The reranker at {self._server} does not accept the API key (status {status}).",
                field="reranker_api_key",
                remedy="Give a key that may use this model.",
            )
        raise ModelInvalid(
            f"The reranker at {self._server} refuses the request (status {status}).",
            remedy=f"Check the URL's path and that the server has the model {self._model}.",
        )


async def read_body(response: Response) -> bytes:
    """The body of an answer. Raises `ModelInvalid` where it is longer than any answer can be."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > LONGEST_ANSWER_BYTES:
            raise ModelInvalid(f"The reranker's answer is longer than {LONGEST_ANSWER_BYTES:,} bytes.")
    return bytes(body)


def read_scores(body: bytes, documents: int) -> NDArray[np.float64]:
    """The answer's scores in the order of the request's documents: shape (documents,), finite.

    A score from -1 to 0 counts as 0: some models answer with a cosine. Raises `ModelInvalid` where the body is not the
    JSON of an answer, and where a document has no score or two.
    """
    try:
        results = Answer.model_validate_json(body).results
    except ValidationError as exc:
        fault = exc.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, fault["loc"])) or "the body"
        raise ModelInvalid(f"The reranker's answer is not usable: {place}: {fault['msg']}.") from None
    if sorted(result.index for result in results) != list(range(documents)):
        raise ModelInvalid(f"The reranker was sent {documents} documents and its {len(results)} scores do not match.")
    scores = np.array(
        [result.relevance_score for result in sorted(results, key=lambda result: result.index)], dtype=np.float64
    )
    return np.where((scores >= -1.0) & (scores < 0.0), 0.0, scores)


async def ask(
    reranker: Reranker, query: str, documents: Sequence[str], *, timeout_seconds: float
) -> NDArray[np.float64]:
    """The relevance of each document, in their order, in [0, 1], from any reranker, or an error within the deadline.

    Raises:
        ModelUnavailable: it gave no answer in time, or cannot be reached.
        ModelInvalid: it failed otherwise, or its scores are not one for each document, finite and from 0 to 1.
    """
    try:
        with fail_after(timeout_seconds):
            scores = np.asarray(await reranker.rerank(query, documents), dtype=np.float64)
    except TimeoutError as exc:
        raise ModelUnavailable(f"The reranker gave no answer within {timeout_seconds:g} s.") from exc
    except ModelError:
        raise
    except Exception as exc:
        # A reranker can be the caller's own: whatever it raises may cost the order, and never the recall.
        raise ModelInvalid(f"The reranker failed ({type(exc).__name__}).") from exc
    if scores.shape != (len(documents),):
        raise ModelInvalid(f"The reranker's scores have the shape {scores.shape} for {len(documents)} documents.")
    # Written so that NaN fails it too.
    if not np.all((scores >= -TOLERANCE) & (scores <= 1.0 + TOLERANCE)):
        raise ModelInvalid(
            "The reranker's scores are not all from 0 to 1.",
            remedy="Have the server answer with relevance, not with logits.",
        )
    return np.clip(scores, 0.0, 1.0)


def create_reranker(spec: str | None, *, api_key: str | None = None, threads: int = 1) -> Reranker | None:
    """The reranker that a setting names, or None where it names none. Nothing is loaded or asked yet.

    `spec` is None, `fake`, the path of a cross-encoder's folder, or an endpoint with its model, `https://server#model`.
    `api_key` is for an endpoint, `threads` for a cross-encoder.

    Raises:
        InvalidInput: it names none; the error's field is `reranker`.
    """
    spec = (spec or "").strip()
    if not spec:
        return None
    if spec == "fake":
        return FakeReranker()
    if spec.startswith(("http://", "https://")):
        url, _, model = spec.partition("#")
        if not model.strip():
            raise InvalidInput("The reranker's endpoint names no model.", field="reranker", remedy=ALLOWED)
        return HttpReranker(url, model.strip(), api_key=api_key)
    if "://" in spec or "\0" in spec:
        raise InvalidInput("The setting names no reranker.", field="reranker", remedy=ALLOWED)
    return OnnxReranker(Path(spec).expanduser(), threads=threads)
