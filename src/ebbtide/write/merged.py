"""Whether one text says what several say, and nothing else; read from the words alone."""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.write.wording import WORDS_A_CHANGE, differ, plain_words, read_wording

__all__ = ["what_is_amiss"]


def what_is_amiss(text: str, sources: Sequence[str]) -> str | None:
    """Why a text cannot stand for its sources, None where it can.

    It has the numbers, dates, names and negations of every source and no others, the same language and script, and is
    no longer than all of them together. Of six words that mean something, one may be lost from a source, and one may
    be new.
    """
    if len(text) > sum(map(len, sources)) + len(sources):
        return "The text is longer than all that it was made of."
    made = read_wording(text)
    known: set[str] = set()
    for source in sources:
        said = read_wording(source)
        if made.numbers != said.numbers:
            return "The text has other numbers or dates than its sources."
        if made.negations != said.negations:
            return "The text denies something else than its sources."
        if differ(made, said):
            return "The text has other names, another language or an opposite of what its sources say."
        words = plain_words(said)
        if len(words - plain_words(made)) > len(words) // WORDS_A_CHANGE:
            return "The text leaves out what a source says."
        known |= words
    if len(plain_words(made) - known) > len(known) // WORDS_A_CHANGE:
        return "The text says what no source says."
    return None
