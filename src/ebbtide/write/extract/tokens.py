"""A text as words with their places, and as sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ebbtide.write.extract.examples import shown_in

__all__ = ["Sentence", "Words", "sentences_of", "words_of"]

TOKEN = re.compile(
    r"\n+"
    r"|(?:Mrs?|Ms|Drs?|Prof|Jr|Sr|Inc|Ltd|Corp|Co|Hr|Fr|Mme|Mlle|Sra|St|Mt)\.(?=[\s,;])"
    r"|(?!I\.\s)(?:[A-Z]\.)+(?=[A-Z]|\s+[A-Z][a-z])"
    r"|[^\W_]+\.(?:com|org|net|io|ai|js|dev|app|de)\b"
    r"|[A-Z]\+\+|[A-Z]\#"
    r"|[A-Z]+&[A-Z]+"
    r"|\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th)?\b"
    r"|[^\W_]+(?:[-'’][^\W_]+)*"
    r"|\S"
)
APOSTROPHE = re.compile(r"['’]")
# The endings that are words of their own, and the beginnings, as in "j'habite".
ENDING = re.compile(r"(?i)(?:n['’]t|['’](?:s|m|re|ve|d|ll))$")
BEGINNING = re.compile(r"(?i)^(?:[cdjlmnst]|qu)['’]")
SPEAKER = re.compile(r"[ \t]*(?P<name>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2}):[ \t]+(?=\S)")
QUOTE = re.compile(r"(?<!\w)'\w")
OPENING, CLOSING = "“„«", "”»"
STOPS = frozenset(".!?…;。！？")
ASKING = frozenset("?？¿")
LIST_MARKS = frozenset("-*•>#|")


@dataclass(slots=True)
class Words:
    """The words and marks of a text: each as written, in lower case, and its place.

    `quoted` are those in quotes, in code and in examples.
    """

    text: str
    words: list[str] = field(default_factory=list[str])
    lower: list[str] = field(default_factory=list[str])
    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    quoted: frozenset[int] = frozenset()

    def piece(self, first: int, behind: int) -> str:
        """The text of the words from `first` up to and without `behind`, its white space folded."""
        return " ".join(self.text[self.starts[first] : self.ends[behind - 1]].split())


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words from `first` up to and without `behind`; who says them, where a line begins with that name."""

    first: int
    behind: int
    asks: bool
    speaker: str | None


def words_of(text: str) -> Words:
    """The words and marks of a text."""
    found = Words(text)
    words, lower, starts, ends = found.words, found.lower, found.starts, found.ends
    for match in TOKEN.finditer(text):
        word, start, end = match.group(), match.start(), match.end()
        if len(word) > 2 and ("'" in word or "’" in word):
            for piece_start, piece_end in pieces(word):
                piece = word[piece_start:piece_end]
                words.append(piece)
                lower.append(piece.lower().replace("’", "'"))
                starts.append(start + piece_start)
                ends.append(start + piece_end)
            continue
        words.append(word)
        lower.append(word.lower())
        starts.append(start)
        ends.append(end)
    found.quoted = quoted_in(found) | shown_in(text, lower, starts)
    return found


def pieces(word: str) -> list[tuple[int, int]]:
    """Where the parts of a contraction lie: "don't" is "do" and "n't", "l'eau" is "l'" and "eau"."""
    places: list[tuple[int, int]] = []
    start, end = 0, len(word)
    if match := BEGINNING.match(word):
        places.append((0, match.end()))
        start = match.end()
    match = ENDING.search(word, start)
    if match and match.start() > start:
        end = match.start()
    places.append((start, end))
    if end < len(word):
        places.append((end, len(word)))
    return places


def quoted_in(words: Words) -> frozenset[int]:
    """The places of the words in quotes; a quote that is never closed goes on to the end of its line."""
    text = words.text
    if not any(mark in text for mark in '"“„«`‘>') and not QUOTE.search(text):
        return frozenset()
    inside: set[int] = set()
    opened: str | None = None
    for place, word in enumerate(words.words):
        if word[0] == "\n":
            opened = None
        elif word == ">" and (place == 0 or words.words[place - 1][0] == "\n"):
            # A line that is quoted from elsewhere, as in mails.
            opened = "\n"
        elif opened is not None:
            inside.add(place)
            if word == opened or (opened in CLOSING and word in CLOSING + "“"):
                opened = None
        elif word in ('"', "`"):
            opened = word
        elif word in OPENING:
            opened = "”" if word != "«" else "»"
        elif word in "'‘" and _opens(words, place):
            opened = "'" if word == "'" else "’"
    return frozenset(inside)


def _opens(words: Words, place: int) -> bool:
    """Whether an apostrophe by itself opens a quote: not behind a word, and directly before one."""
    before = words.text[words.starts[place] - 1 : words.starts[place]]
    following = words.text[words.ends[place] : words.ends[place] + 1]
    return not before.isalnum() and following.isalnum()


def sentences_of(words: Words) -> list[Sentence]:
    """The sentences of a text; a new line ends one unless it goes on in the middle of it."""
    found: list[Sentence] = []
    speaker, first, skip_to = _speaker_at(words, 0), 0, 0
    first = skip_to = 0 if speaker is None else _behind_speaker(words, 0)
    tokens = words.words
    count = len(tokens)
    for place in range(skip_to, count):
        if place < first:
            continue
        word = tokens[place]
        line = word[0] == "\n"
        if line and _goes_on(words, place):
            continue
        if not (line or word in STOPS) or _within(words, place):
            continue
        if place > first:
            found.append(Sentence(first, place, word in ASKING, speaker))
        elif word in ASKING and found and found[-1].behind == place - 1:
            found[-1] = Sentence(found[-1].first, found[-1].behind, True, found[-1].speaker)
        first = place + 1
        if line:
            named = _speaker_at(words, first)
            speaker = named or (speaker if len(word) == 1 else None)
            first = _behind_speaker(words, first) if named else first
    if first < count:
        found.append(Sentence(first, count, False, speaker))
    return found


def _within(words: Words, place: int) -> bool:
    """Whether a full stop stands within a word, as in the name of a file."""
    following = words.text[words.ends[place] : words.ends[place] + 1]
    return words.words[place] == "." and following.isalnum() and following.islower()


def _goes_on(words: Words, place: int) -> bool:
    """Whether the line behind a single line break continues the sentence before it."""
    if len(words.words[place]) > 1 or place == 0 or place + 1 >= len(words.words):
        return False
    following = words.words[place + 1]
    return (words.words[place - 1] == "," or following[0].islower()) and following not in LIST_MARKS


def _speaker_at(words: Words, place: int) -> str | None:
    """The name before the colon that the line from a place on begins with."""
    if place >= len(words.words) or not words.words[place][0].isupper():
        return None
    match = SPEAKER.match(words.text, words.starts[place])
    return match["name"] if match and all(part[0].isupper() for part in match["name"].split()) else None


def _behind_speaker(words: Words, place: int) -> int:
    while words.words[place] != ":":
        place += 1
    return place + 1
