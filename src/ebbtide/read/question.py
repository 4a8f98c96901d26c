"""What a query asks: its asking part, its words, and the people it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ebbtide.checks import check_text
from ebbtide.errors import InvalidInput
from ebbtide.read.moments import Window, asked_window, asks_for_latest
from ebbtide.text import UNSPACED, is_blank

__all__ = ["Question", "asked_part", "read_question", "term_query"]

SENTENCE = re.compile(r"[^.!?。！？؟\n]+(?:[.!?。！？؟]+(?=\s|$|[^\x00-\x7f])|\n|$)")
ASKS = re.compile(r"[?？؟][\"'”’)»」』\s]*$")


@dataclass(frozen=True, slots=True)
class Question:
    """A query, understood.

    Attributes:
        text: as it was given.
        asked: the part that asks; the text itself where it is short.
        dense: `asked` without the names of people, for the vector search.
        named: the speakers whose names it holds.
        window: the months it asks about, None for none.
        latest: whether it asks about the present.
    """

    text: str
    asked: str
    dense: str
    named: tuple[str, ...]
    window: Window | None
    latest: bool


def read_question(
    query: Any, speakers: Sequence[str], *, longest: int, asked_characters: int, asked_at: datetime
) -> Question:
    """Understand a query.

    Raises:
        InvalidInput: it is blank, too long, or not text that can be stored.
    """
    text = check_text(query, "query", longest)
    if is_blank(text):
        raise InvalidInput(
            "The query is empty.", field="query", remedy="Ask something, or use browse to list memories."
        )
    asked = asked_part(text, asked_characters)
    named = tuple(speaker for speaker in speakers if _names(speaker, asked))
    return Question(
        text, asked, without_names(asked, speakers), named, asked_window(asked, asked_at), asks_for_latest(asked)
    )


def asked_part(text: str, characters: int) -> str:
    """What a long text asks: its last questions, or its last sentences where it asks none, up to `characters`.

    A pasted document or a system prompt before or after the question would otherwise drown it.
    """
    if len(text) <= characters:
        return text
    sentences = [found.group().strip() for found in SENTENCE.finditer(text) if found.group().strip()] or [text]
    asking = [place for place, sentence in enumerate(sentences) if ASKS.search(sentence)]
    last = asking[-1] if asking else len(sentences) - 1
    chosen = sentences[last][-characters:]
    for place in range(last - 1, -1, -1):
        longer = f"{sentences[place]} {chosen}"
        if len(longer) > characters or (asking and place not in asking):
            break
        chosen = longer
    return chosen


def _pattern(name: str) -> str:
    bounded = re.escape(name)
    return bounded if UNSPACED.search(name) else rf"(?<!\w){bounded}(?:['’]s?)?(?!\w)"


def _forms(speaker: str) -> list[str]:
    """A person's full name, and the first name alone."""
    first = speaker.split()[0] if speaker.split() else speaker
    return [speaker] if first == speaker or len(first) < 2 else [speaker, first]


def _names(speaker: str, text: str) -> bool:
    return any(re.search(_pattern(form), text, re.IGNORECASE) for form in _forms(speaker))


def without_names(text: str, speakers: Sequence[str]) -> str:
    """The text without the names of the scope's speakers; the text itself where nothing else would be left."""
    rest = text
    for form in sorted({form for speaker in speakers for form in _forms(speaker)}, key=len, reverse=True):
        rest = re.sub(_pattern(form), " ", rest, flags=re.IGNORECASE)
    rest = " ".join(rest.split())
    return text if is_blank(re.sub(r"[^\w]", "", rest)) else rest


def term_query(lexeme: str) -> str:
    """The tsquery of one lexeme; a single character of an unspaced script stands for every pair it begins."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}':*" if len(lexeme) == 1 and UNSPACED.fullmatch(lexeme) else f"'{escaped}'"
