"""Reading what an embeddings endpoint answers, and distrusting it."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from ebbtide.errors import ModelInvalid
from ebbtide.models.vectors import unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from httpx import Headers

__all__ = ["read_vectors", "seconds_to_wait", "server_message"]

LONGEST_MESSAGE = 200
SHORTEST_QUOTE = 12


class EmbeddingItem(BaseModel, strict=True, hide_input_in_errors=True):
    """One vector of an answer, and which of the request's texts it belongs to."""

    index: int
    embedding: list[float]


class EmbeddingAnswer(BaseModel, strict=True, hide_input_in_errors=True):
    """The part of an answer that is read; the rest is ignored."""

    data: list[EmbeddingItem]


class ErrorDetail(BaseModel, strict=True):
    """What a server says about a refused request."""

    message: str


class ErrorAnswer(BaseModel, strict=True):
    """The body of a refused request in OpenAI's form."""

    error: ErrorDetail


def read_vectors(body: bytes, texts: int) -> NDArray[np.float32]:
    """The answer's vectors in the order of the request's texts: shape (texts, dimension), every row of length 1.

    Raises `ModelInvalid` where the body is not the JSON of an answer, where a text has no vector or two, and where the
    vectors differ in dimension, are empty, have length 0, or hold a number that is not finite.
    """
    try:
        items = EmbeddingAnswer.model_validate_json(body).data
    except ValidationError as exc:
        fault = exc.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, fault["loc"])) or "the body"
        raise ModelInvalid(f"The embedding endpoint's answer is not usable: {place}: {fault['msg']}.") from None
    if sorted(item.index for item in items) != list(range(texts)):
        raise ModelInvalid(
            f"The embedding endpoint was sent {texts} texts and its {len(items)} vectors do not match them."
        )
    if len({len(item.embedding) for item in items}) != 1 or not items[0].embedding:
        raise ModelInvalid("The embedding endpoint's vectors are empty or differ in dimension.")
    rows = np.array([item.embedding for item in sorted(items, key=lambda item: item.index)], dtype=np.float64)
    try:
        return unit_rows(rows)
    except ValueError:
        raise ModelInvalid("The embedding endpoint's vectors hold a number that is not finite, or are zero.") from None


def server_message(body: bytes, secret: str | None, texts: Sequence[str] = ()) -> str:
    """What the server said about a refused request: at most 200 characters, the secret blotted out, or nothing.

    Nothing where it quotes one of the texts that it was sent: the message is kept and logged where no text may be.
    """
    try:
        message = ErrorAnswer.model_validate_json(body).error.message
    except ValidationError:
        return ""
    if secret:
        message = message.replace(secret, "***")
    message = message[:LONGEST_MESSAGE]
    return "" if any(_quotes(message.casefold(), text.casefold()) for text in texts) else message


def _quotes(message: str, text: str) -> bool:
    """Whether a message repeats a text, or so many characters of it in a row that it is no accident."""
    starts = range(len(message) - SHORTEST_QUOTE + 1)
    return bool(text.strip() and text.strip() in message) or any(
        message[start : start + SHORTEST_QUOTE] in text for start in starts
    )


def seconds_to_wait(headers: Headers) -> float | None:
    """The pause the server asks for in `Retry-After`, in seconds of at least 0; None where it asks for none.

    A date is measured against the server's own `Date`, so a difference between two clocks does no harm.
    """
    asked = headers.get("retry-after", "")
    if asked.isdecimal():
        return float(asked)
    try:
        pause = parsedate_to_datetime(asked) - parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, pause.total_seconds())
