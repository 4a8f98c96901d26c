"""What a query asks: its asking part, its words, and the people it names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from ebbtide.checks import check_text
from ebbtide.errors import InvalidInput
from ebbtide.read.moments import Window, asked_window, asks_for_latest
from ebbtide.text import UNSPACED, is_blank

__all__ = ["Question", "asked_part", "read_question", "term_query"]

SENTENCE = re.compile(r"[^.!?。！？؟\n]+(?:[.!?。！？؟]+(?=\s|$|[^\x00-\x7f])|\n|$)")
RUN = re.compile(r"\w+")
ASKS = re.compile(r"[?？؟][\"'”’)»」』\s]*$")


@dataclass(frozen=True, slots=True)
class Question:
    """A query, understood.

    Attributes:
        text: as it was given.
        asked: the part that asks; the text itself where it is short.
        dense: `asked` without the names of people, for the vector search.
        named: the speakers whose names it holds.
        window: when it asks about, None where it does not say.
        latest: whether it asks about the present.
        parts: what else is searched for in its place; nothing where it asks for one thing.
    """

    text: str
    asked: str
    dense: str
    named: tuple[str, ...]
    window: Window | None
    latest: bool
    parts: tuple[str, ...] = ()

    @property
    def beside_time(self) -> str:
        """`asked` without the words that say when."""
        text = unicodedata.normalize("NFC", self.asked)
        for span in () if self.window is None else self.window.spans:
            text = re.sub(_pattern(span.text), " ", text)
        return text


def read_question(
    query: Any,
    speakers: Sequence[str],
    *,
    longest: int,
    asked_characters: int,
    asked_at: datetime,
    timezone: str = "UTC",
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
    names = names_of(tuple(speakers))
    named = names.named_in(asked)
    # June and April are people where they speak.
    window = asked_window(names.taken_from(asked) if named else asked, asked_at, timezone)
    return Question(
        text,
        asked,
        without_names(asked, speakers),
        named,
        replace(window, alone=False) if window is not None and named else window,
        asks_for_latest(asked),
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


class Names:
    """The names of a scope's speakers. One is looked for only where a word of the text begins it: most are in none."""

    def __init__(self, speakers: Sequence[str]) -> None:
        self._forms = {form: re.compile(_pattern(form), re.IGNORECASE) for one in speakers for form in _forms(one)}
        self._speakers = speakers
        self._by_first_run: dict[str, list[str]] = {}
        # A name without a run of letters, or of a script without spaces, may begin anywhere.
        self._anywhere: list[str] = []
        for form in self._forms:
            first = None if UNSPACED.search(form) else RUN.search(form)
            known = self._anywhere if first is None else self._by_first_run.setdefault(first.group().casefold(), [])
            known.append(form)

    def found_in(self, text: str) -> set[str]:
        """The names, full and first, that the text holds."""
        begun = [self._by_first_run.get(run, ()) for run in set(RUN.findall(text.casefold()))]
        return {form for forms in (*begun, self._anywhere) for form in forms if self._forms[form].search(text)}

    def named_in(self, text: str) -> tuple[str, ...]:
        """The speakers whose full or first name the text holds."""
        found = self.found_in(text)
        return tuple(one for one in self._speakers if not found.isdisjoint(_forms(one))) if found else ()

    def taken_from(self, text: str) -> str:
        """The text without any of the names, the longest taken first."""
        for form in sorted(self.found_in(text), key=len, reverse=True):
            text = self._forms[form].sub(" ", text)
        return text


@lru_cache(maxsize=256)
def names_of(speakers: tuple[str, ...]) -> Names:
    """The names of these speakers, compiled."""
    return Names(speakers)


def _pattern(name: str) -> str:
    bounded = re.escape(name)
    return bounded if UNSPACED.search(name) else rf"(?<!\w){bounded}(?:['’]s?)?(?!\w)"


def _forms(speaker: str) -> list[str]:
    """A person's full name, and the first name alone."""
    first = speaker.split()[0] if speaker.split() else speaker
    return [speaker] if first == speaker or len(first) < 2 else [speaker, first]


def without_names(text: str, speakers: Sequence[str]) -> str:
    """The text without the names of the scope's speakers; the text itself where nothing else would be left."""
    rest = " ".join(names_of(tuple(speakers)).taken_from(text).split())
    return text if is_blank(re.sub(r"[^\w]", "", rest)) else rest


def term_query(lexeme: str) -> str:
    """The tsquery of one lexeme; a single character of an unspaced script stands for every pair it begins."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}':*" if len(lexeme) == 1 and UNSPACED.fullmatch(lexeme) else f"'{escaped}'"
