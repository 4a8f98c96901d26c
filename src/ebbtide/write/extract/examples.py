"""What a text shows and does not say: code, and examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ebbtide.write.extract.word_list import listed

__all__ = ["shown_in"]

# The words before a colon that make an example of what comes behind it.
EXAMPLES = listed(
    """
    example examples sample samples template templates snippet scenario hypothetical hypothetically fiction placeholder
    demo dummy input output expected wrong myth option guess hypothesis draft hint story lyrics question quiz
    quote quotation sentence sentences translation translate prompt joke
    beispiel beispiele beispielsatz muster vorlage zitat satz szenario
    exemple exemples modèle citation phrase phrases
    ejemplo ejemplos muestra plantilla cita frase frases
    """
)
MOST_LABEL_WORDS = 8
FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
# Four spaces or a tab behind a blank line, as Markdown has code.
INDENTED = re.compile(r"(?:\A|(?<=\n)[ \t]*\n)((?:(?: {4}|\t)[^\n]*(?:\n|\Z))+)")
SUCH_AS = re.compile(r"(?i)\b(?:e\.\s?g\.?|z\.\s?b\.|bspw\.|bsp\.|p\.\s?ex\.|p\.\s?ej\.)[,:]?\s")
SENTENCE_END = re.compile(r"[.!?…](?=\s|$)|\n")


def shown_in(text: str, lower: Sequence[str], starts: Sequence[int]) -> frozenset[int]:
    """The places of a text's words, given in lower case with where each begins, that are in code and in examples.

    Code stands between fences or is indented. An example goes on behind its label to the end of the line, or where the
    label is the whole line, to the end of the paragraph; behind "e.g." to the end of the sentence.
    """
    spans = [*_fenced(text), *_indented(text), *_such_as(text)]
    inside = {
        place for place, start in enumerate(starts) if spans and any(first <= start < behind for first, behind in spans)
    }
    if ":" in text and not EXAMPLES.isdisjoint(lower):
        inside.update(_labelled(lower))
    return frozenset(inside)


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Code between fences; what is never closed goes on to the end."""
    opened: re.Match[str] | None = None
    for fence in FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]):
            yield opened.start(), fence.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


def _indented(text: str) -> Iterator[tuple[int, int]]:
    """Indented paragraphs, unless everything is indented."""
    if "    " not in text and "\t" not in text:
        return
    lines = [line for line in text.split("\n") if line.strip()]
    if all(line.startswith(("    ", "\t")) for line in lines):
        return
    for found in INDENTED.finditer(text):
        yield found.span(1)


def _such_as(text: str) -> Iterator[tuple[int, int]]:
    for found in SUCH_AS.finditer(text) if "." in text else ():
        end = SENTENCE_END.search(text, found.end())
        yield found.start(), end.start() if end else len(text)


def _labelled(lower: Sequence[str]) -> Iterator[int]:
    """The places behind labels such as "Example:" and "A sample answer:"."""
    place = 0
    while place < len(lower):
        behind = _line_end(lower, place)
        label = lower[place : min(behind, place + MOST_LABEL_WORDS + 1)]
        colon = place + label.index(":") if ":" in label else behind
        if colon == behind or EXAMPLES.isdisjoint(lower[place:colon]):
            place = behind + 1
            continue
        # Where the whole line is the label, it announces the paragraph that comes next.
        end = behind if colon + 1 < behind else _paragraph_end(lower, behind + 1)
        yield from range(colon + 1, min(end, len(lower)))
        place = end + 1


def _line_end(lower: Sequence[str], place: int) -> int:
    while place < len(lower) and lower[place][0] != "\n":
        place += 1
    return place


def _paragraph_end(lower: Sequence[str], place: int) -> int:
    while place < len(lower) and not lower[place].startswith("\n\n"):
        place += 1
    return place
