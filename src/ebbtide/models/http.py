"""Embeddings from any server that speaks OpenAI's `/v1/embeddings`: OpenAI, Ollama, vLLM, TEI, LM Studio."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from anyio import fail_after, sleep
from numpy.typing import NDArray

from ebbtide.errors import InvalidInput, ModelInvalid, ModelUnavailable
from ebbtide.models.answers import read_vectors, seconds_to_wait, server_message
from ebbtide.models.batches import run_batches
from ebbtide.models.protocols import ModelIdentity
from ebbtide.models.tokens import estimated
from ebbtide.models.vectors import encodable

if TYPE_CHECKING:
    from httpx import URL, AsyncClient, Response

__all__ = ["HttpEmbedder"]

LONGEST_PAUSE_SECONDS = 60.0
URL_REMEDY = "Give a URL such as http://localhost:11434 or https://api.openai.com/v1."


class HttpEmbedder:
    """A model behind an OpenAI-compatible endpoint.

    `url` is the server (`http://localhost:11434`), its API (`https://api.openai.com/v1`) or the endpoint's whole path.
    `dimension` is checked against every answer; where it is not given, `probe()` or the first embedding finds it.
    `timeout_seconds` bounds one request from start to end. A request that meets no server, a timeout, 429 or 5xx is
    sent again up to `retries` times: after the pause the server asks for, else after `backoff_seconds`, doubled each
    time, with jitter. A request carries at most `batch_size` texts, each cut to `max_characters`; `concurrency`
    requests run at a time. One instance serves one event loop. Raises `InvalidInput` that names the argument.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dimension: int | None = None,
        api_key: str | None = None,
        timeout_seconds: float = 30.0,
        retries: int = 3,
        backoff_seconds: float = 0.5,
        batch_size: int = 64,
        concurrency: int = 4,
        max_characters: int = 8_000,
    ) -> None:
        if not model.strip():
            raise InvalidInput("The embedding model has no name.", field="model")
        require_at_least(0, retries=retries, backoff_seconds=backoff_seconds)
        require_at_least(0.001, timeout_seconds=timeout_seconds)
        require_at_least(1, batch_size=batch_size, concurrency=concurrency, max_characters=max_characters)
        if dimension is not None:
            require_at_least(1, dimension=dimension)
        self._endpoint = endpoint_of(url)
        # Without the user and password that a URL may hold: this is what errors show.
        self._server = f"{self._endpoint.scheme}://{self._endpoint.netloc.decode('ascii')}"
        self._model = model
        self._dimension = dimension
        self._api_key = sendable_key(api_key)
        self._connections = Connections(self._api_key)
        self._timeout_seconds = timeout_seconds
        self._retries = retries
        self._backoff_seconds = backoff_seconds
        self._batch_size = batch_size
        self._concurrency = concurrency
        self._max_characters = max_characters

    @property
    def identity(self) -> ModelIdentity:
        """The model's name and dimension. Raises `ModelUnavailable` before the dimension is known: await `probe()`."""
        if self._dimension is None:
            raise ModelUnavailable(
                f"The dimension of {self._model} is not known yet.",
                field="dimension",
                remedy="Await `probe()`, or give `dimension`.",
            )
        return ModelIdentity(self._model, self._dimension)

    async def probe(self) -> ModelIdentity:
        """The model's identity, asking the endpoint for one vector where the dimension is not known yet.

        Raises what `embed` raises.
        """
        if self._dimension is None:
            self._dimension = (await self._embed_batch(["dimension"])).shape[1]
        return self.identity

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, in the order given: shape (texts, dimension). A blank text is sent as a space.

        Raises `ModelUnavailable` when the endpoint cannot be reached or goes on answering 429 or 5xx, and
        `ModelInvalid` when it refuses the request otherwise or its answer is not what it should be.
        """
        identity = await self.probe()
        vectors = np.empty((len(texts), identity.dimension), dtype=np.float32)

        async def embed_batch(start: int) -> None:
            batch = texts[start : start + self._batch_size]
            vectors[start : start + len(batch)] = await self._embed_batch(batch)

        await run_batches(range(0, len(texts), self._batch_size), embed_batch, self._concurrency)
        return vectors

    def count_tokens(self, text: str) -> int:
        """An estimate, as the tokenizer is the server's: see `ebbtide.models.tokens.estimated`."""
        return estimated(text)

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()

    async def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        inputs = [encodable(text[: self._max_characters]) if text.strip() else " " for text in texts]
        body = await self._answer(inputs)
        vectors = read_vectors(body, len(texts))
        if self._dimension is not None and vectors.shape[1] != self._dimension:
            raise ModelInvalid(
                f"{self._model} answers with {vectors.shape[1]} dimensions, not {self._dimension}.",
                field="dimension",
                remedy="Name the model that the store was made with, or correct `dimension`.",
            )
        return vectors

    async def _answer(self, texts: Sequence[str]) -> bytes:
        """The body of the first good answer among the attempts."""
        retries_left = self._retries
        backoff_seconds = self._backoff_seconds
        while isinstance(outcome := await self._attempt(texts), Failure):
            pause = outcome.asked_pause_seconds
            if retries_left == 0 or (pause or 0) > LONGEST_PAUSE_SECONDS:
                raise ModelUnavailable(
                    f"The embedding endpoint at {self._server} {outcome.trouble}.",
                    remedy="Check that it runs, that the URL is right and that it is not overloaded; then try again.",
                ) from outcome.cause
            await sleep(backoff_seconds * random.uniform(0.5, 1.0) if pause is None else pause)
            retries_left -= 1
            backoff_seconds = min(2 * backoff_seconds, LONGEST_PAUSE_SECONDS)
        return outcome

    async def _attempt(self, texts: Sequence[str]) -> bytes | Failure:
        """The body of a good answer, or a failure that may pass by itself. A refusal that will not pass is raised."""
        from httpx import RequestError

        request = {"model": self._model, "input": texts, "encoding_format": "float"}
        try:
            with fail_after(self._timeout_seconds):
                response = await self._connections.client.post(self._endpoint, json=request)
        except TimeoutError as exc:
            return Failure(f"gave no answer within {self._timeout_seconds:g} s", cause=exc)
        except RequestError as exc:
            return Failure(f"cannot be reached ({type(exc).__name__})", cause=exc)
        if response.status_code == 200:
            return response.content
        if response.status_code == 429 or response.status_code >= 500:
            return Failure(f"answers with status {response.status_code}", seconds_to_wait(response.headers))
        raise self._refusal(response, texts)

    def _refusal(self, response: Response, texts: Sequence[str]) -> ModelInvalid:
        status = response.status_code
        if status in (401, 403):
            # Such answers like to quote the key, in part or whole, so their text is not passed on.
            return ModelInvalid(
                f"The embedding endpoint at {self._server} does not accept the API key (status {status}).",
                field="api_key",
                remedy="Give a key that may use this model.",
            )
        said = server_message(response.content, self._api_key, texts)
        reason = f"status {status}: {said}" if said else f"status {status}"
        return ModelInvalid(
            f"The embedding endpoint at {self._server} refuses the request ({reason}).",
            remedy=f"Check the URL's path and that the server has the model {self._model}.",
        )


class Connections:
    """The connections to one endpoint, with its key as a bearer token; opened when first used."""

    def __init__(self, api_key: str | None) -> None:
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else None
        self._client: AsyncClient | None = None

    @property
    def client(self) -> AsyncClient:
        """The client that holds them."""
        if self._client is None:
            from httpx import AsyncClient

            # The deadline of whoever asks takes the place of the client's own, which bound single reads.
            self._client = AsyncClient(headers=self._headers, timeout=None)
        return self._client

    async def close(self) -> None:
        """Close them; whoever asks again opens new ones."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that brought no answer but might at another time, and the pause the server asked for."""

    trouble: str
    asked_pause_seconds: float | None = None
    cause: Exception | None = None


def endpoint_of(url: str) -> URL:
    """The endpoint's whole URL, from it or from its server or API. Raises `InvalidInput` that names `url`."""
    return whole_url(
        url, "/embeddings", api="/v1", called="The embedding endpoint's URL", field="url", remedy=URL_REMEDY
    )


def whole_url(url: str, ending: str, *, api: str, called: str, field: str, remedy: str) -> URL:
    """The URL of an endpoint whose path has an `ending`, from it, or from its server, or its API such as `/v1`.

    Raises `InvalidInput` that names the field, where it cannot be read or is not one of HTTP.
    """
    try:
        from httpx import URL, InvalidURL
    except ImportError as exc:
        raise ModelUnavailable("The package `httpx` is not installed.", remedy="Run `pip install httpx`.") from exc
    try:
        endpoint = URL(url.strip())
    except InvalidURL as exc:
        raise InvalidInput(f"{called} cannot be read.", field=field, remedy=remedy) from exc
    if endpoint.scheme not in ("http", "https") or not endpoint.host:
        raise InvalidInput(f"{called} is not one of HTTP.", field=field, remedy=remedy)
    path = endpoint.path.rstrip("/")
    if not path.endswith(ending):
        path += ending if re.search(r"/v\d+$", path) else api + ending
    return endpoint.copy_with(path=path, fragment=None)


def sendable_key(api_key: str | None, field: str = "api_key") -> str | None:
    """The key without the line break that files end in. Raises `InvalidInput` where no header can carry it."""
    key = (api_key or "").strip()
    if not all("!" <= character <= "~" for character in key):
        raise InvalidInput("The API key holds a space or a character outside ASCII.", field=field)
    return key or None


def require_at_least(least: float, **arguments: float) -> None:
    """Raises `InvalidInput` that names the first argument below the least value, or not a number."""
    for name, value in arguments.items():
        if not value >= least:
            raise InvalidInput(f"{name} is {value}.", field=name, remedy=f"Give {least:g} or more.")
