"""The values of a context block: its text and measures, what was left out of it, and its place among messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast, get_args
from uuid import UUID

from pydantic import Field

from ebbtide.errors import InvalidInput
from ebbtide.types.base import Value

__all__ = ["SECTIONS", "STYLES", "ContextBlock", "Engagement", "Omission", "Reason", "Section", "Style"]

Section: TypeAlias = Literal["selected", "facts", "relations", "serendipity", "episodes", "chunks", "notes", "project"]
SECTIONS: tuple[Section, ...] = get_args(Section)

Style: TypeAlias = Literal["text", "openai", "anthropic"]
STYLES: tuple[Style, ...] = get_args(Style)

Reason: TypeAlias = Literal[
    "over the whole budget",
    "too large for the section",
    "no room left",
    "cut",
    "not active",
    "withheld",
    "the question itself",
]


class Omission(Value):
    """One entry that a block shows in part or not at all.

    `tokens` is its length as an entry. The `reason` is that it is larger than the whole budget or than its section's
    share of it; that what is worth more took the room; or that it was `cut`, and then the block has its beginning. Of
    what was selected by id, `not active` is archived, quarantined or deleted, and `withheld` holds personal data that a
    rule keeps back. `the question itself` is the last turn of the handle's chat, where it says what the query does.
    """

    id: UUID
    section: Section
    tokens: int
    reason: Reason


class Engagement(Value):
    """How a user takes to memories of other topics: `alpha` - 1 times engaged with them, `beta` - 1 times not."""

    alpha: float
    beta: float


class ContextBlock(Value):
    """A block of memories for the end of the last user message. `str()` gives its text.

    `tokens` is the count of the whole block, markers and notes included, and `sections` that of each section's text.
    `ids` are the memories in it, in their order, and `omitted` those that are not; `left_out` says why. `budget` is the
    most tokens that it may have, and `intent` what decided on the order of its sections and on their shares.
    `recall_id` names the recall that it was made from in `feedback`, None where no log is kept. `serendipity` are the
    memories in it that are of other topics, which `engaged` tells of.
    """

    text: str
    tokens: int
    nonce: str
    ids: tuple[UUID, ...]
    omitted: tuple[UUID, ...] = ()
    style: Style = "text"
    intent: str = "factual"
    budget: int = 0
    sections: dict[Section, int] = Field(default_factory=dict)
    left_out: tuple[Omission, ...] = ()
    recall_id: UUID | None = None
    serendipity: tuple[UUID, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def message(self) -> dict[str, Any]:
        """The block as a user message of its own, in the form of its style.

        For `text` and `openai` the content is the text, for `anthropic` a list of one text block.
        """
        content = [_part(self.text)] if self.style == "anthropic" else self.text
        return {"role": "user", "content": content}

    def messages(self, prompt: str | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The messages for a model, with the block at the end of the last one of the user, whose own are not changed.

        `prompt` is what the user says, or the messages so far, as mappings with `role` and `content`. Where nothing in
        them is the user's, the block is a message of its own; an empty block changes nothing.

        Raises:
            InvalidInput: the prompt is neither.
        """
        said = _checked([{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt)
        if not self.text:
            return said
        last = next((place for place in range(len(said) - 1, -1, -1) if said[place].get("role") == "user"), None)
        if last is None:
            return [*said, self.message]
        said[last] = {**said[last], "content": self._behind(said[last].get("content"))}
        return said

    def _behind(self, content: Any) -> str | list[Any]:
        """A message's content with the block behind it: another part where it has parts, or where the style has."""
        if isinstance(content, list):
            return [*cast("list[Any]", content), _part(self.text)]
        text = content if isinstance(content, str) else ""
        if self.style == "anthropic":
            return [*([_part(text)] if text else []), _part(self.text)]
        return f"{text}\n\n{self.text}" if text else self.text


def _part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _checked(prompt: Any) -> list[dict[str, Any]]:
    if not isinstance(prompt, Sequence) or not all(
        isinstance(message, Mapping) and isinstance(cast("Mapping[str, Any]", message).get("role"), str)
        for message in cast("Sequence[Any]", prompt)
    ):
        raise InvalidInput(
            "prompt is neither text nor messages.",
            field="prompt",
            remedy='Give a string, or messages such as {"role": "user", "content": "…"}.',
        )
    return [dict(message) for message in cast("Sequence[Mapping[str, Any]]", prompt)]
