"""Counting tokens: by a tokenizer that the caller brings, by the embedder's, or by the characters."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from ebbtide.errors import InvalidInput, ModelInvalid
from ebbtide.text import shown

if TYPE_CHECKING:
    from ebbtide.models.protocols import Embedder

__all__ = ["TokenCounter", "create_counter", "estimated"]

CHARACTERS_A_TOKEN = 4
FOREIGN_BYTES_A_TOKEN = 3
# Counting so much takes a few milliseconds; more would hold up whatever else waits for the event loop.
INLINE_CHARACTERS = 8_192
PROBES = (
    "The ferry leaves at 07:30 from the northern pier, doesn't it?",
    "漢字とかな, Ελληνικά, кириллица, عربى, 🙂🛳️",
    "def unbelievableness_of(camelCase):\n\treturn {'π': 3.14159}  # indeed",
)
REMEDY = "Give a function from a text to its number of tokens, as in lambda text: len(encoding.encode(text))."


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """How many tokens a text is, by one measure.

    `name` tells measures apart: it is kept beside every count, and a count under another name is made anew.
    """

    name: str
    measure: Callable[[str], int]

    def count(self, text: str) -> int:
        """The number of tokens of a text, at least 0.

        Raises:
            ModelInvalid: the caller's tokenizer failed, or gave something else than a number.
            ModelUnavailable: the embedder's tokenizer is not installed.
        """
        return self.measure(text)

    async def count_each(self, texts: Sequence[str]) -> list[int]:
        """The counts of texts, in their order; many are counted in a worker thread. Raises as `count` does."""
        if sum(map(len, texts)) <= INLINE_CHARACTERS:
            return [self.measure(text) for text in texts]
        return await to_thread.run_sync(lambda: [self.measure(text) for text in texts])


def create_counter(embedder: Embedder | None, model: str | None, tokenizer: Any = None) -> TokenCounter:
    """The counter of a store: the caller's tokenizer, else the embedder's under its model's name, else the characters.

    A tokenizer is known by its name and by what it makes of some texts, so that a changed one is not taken for it.

    Raises:
        InvalidInput: the tokenizer is no function from a text to a number of tokens.
    """
    if tokenizer is not None:
        measure = checked(tokenizer)
        return TokenCounter(f"{name_of(tokenizer)}/{fingerprint(measure)}", measure)
    if embedder is None:
        return TokenCounter("characters", estimated)
    return TokenCounter(model or "model", embedder.count_tokens)


def estimated(text: str) -> int:
    """A token for four ASCII characters, as in English text, or for three bytes of UTF-8 of others; rounded up."""
    if text.isascii():
        return -(-len(text) // CHARACTERS_A_TOKEN)
    foreign = [character for character in text if not character.isascii()]
    size = len("".join(foreign).encode("utf-8", "replace"))
    return -(-(len(text) - len(foreign)) // CHARACTERS_A_TOKEN) + -(-size // FOREIGN_BYTES_A_TOKEN)


def checked(tokenizer: Any) -> Callable[[str], int]:
    """The tokenizer with its answers checked.

    Raises:
        InvalidInput: it cannot be called.
    """
    if not callable(tokenizer):
        raise InvalidInput(f"{shown(tokenizer)} is no tokenizer.", field="tokenizer", remedy=REMEDY)

    def measure(text: str) -> int:
        try:
            count: Any = tokenizer(text)
        except Exception as error:
            # It is the caller's code, and may fail in any way.
            raise ModelInvalid("The tokenizer failed.", field="tokenizer", remedy=REMEDY) from error
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ModelInvalid(f"The tokenizer gave {shown(count)}.", field="tokenizer", remedy=REMEDY)
        return count

    return measure


def name_of(tokenizer: Any) -> str:
    """What a tokenizer calls itself, in at most 60 characters that a database keeps."""
    name: Any = getattr(tokenizer, "name", None) or getattr(tokenizer, "__name__", None)
    text = name if isinstance(name, str) else type(tokenizer).__name__
    return "".join(character for character in text[:60] if character.isprintable() and not character.isspace())


def fingerprint(measure: Callable[[str], int]) -> str:
    """Eight hexadecimal digits of the counts of some texts.

    Raises:
        InvalidInput: the tokenizer cannot count them.
    """
    try:
        counts = [measure(text) for text in PROBES]
    except ModelInvalid as error:
        raise InvalidInput(error.message, field="tokenizer", remedy=REMEDY) from error
    return hashlib.sha256(repr(counts).encode()).hexdigest()[:8]
