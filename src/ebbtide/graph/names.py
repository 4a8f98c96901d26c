"""Names as entities are known by: folded for comparing, as words, and as keys under which a similar one is found."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from itertools import combinations

from ebbtide.text import UNSPACED, fold

__all__ = [
    "LONGEST_REST", "MOST_WORDS", "fold_name", "keys_asked", "keys_of", "marks_of", "name_hash", "predicate_of",
    "rests_of", "words_of",
]  # fmt: skip

MOST_WORDS = 12
"""A name of more words is known by exactly itself alone."""

LONGEST_REST = 40
"""How many characters are kept of how a name goes on from one of its words."""

# Accents of Latin, Greek and Cyrillic; the points of Hebrew; the vowels of Arabic, and what lengthens its words.
UNHEARD = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")
WORD = re.compile(r"\w+[+#]*")
WORDS_A_PREDICATE = re.compile(r"[^\w]+|_+")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# What belongs to the grammar of a name and not to the name.
SILENT = frozenset(_words("a an and das de der des di die du el la las le les los of the und van von y"))

SMALL_NUMBERS = _words("""zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty""")
ORDINALS = _words("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
NUMBER_WORDS = {word: number for number, word in enumerate(SMALL_NUMBERS)} | {
    word: number for number, word in enumerate(ORDINALS, start=1)
}
ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
ROMAN = re.compile(r"(?=[xvi])x{0,3}(?:ix|iv|v?i{0,3})")
ROMAN_VALUES = {"x": 10, "v": 5, "i": 1}
# Words that tell one of a series from the next.
SERIES = frozenset(
    _words("""january february march april june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday north south east west northern southern eastern western upper lower inner
    outer junior senior jr sr""")
)


def fold_name(name: str) -> str:
    """A name as it is compared: NFKC, case and accents folded, without what cannot be seen, single spaces."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", fold(name)).casefold()).casefold()
    bare = UNHEARD.sub("", unicodedata.normalize("NFD", plain))
    return fold("".join(map(_plain, bare)))


def _plain(character: str) -> str:
    """The character; nothing for one that cannot be seen, and for a figure of any script the one of ours."""
    if character.isascii():
        return character
    category = unicodedata.category(character)
    return "" if category == "Cf" else str(unicodedata.digit(character)) if category == "Nd" else character


def name_hash(name: str) -> bytes:
    """SHA-256 of the folded name."""
    return hashlib.sha256(fold_name(name).encode()).digest()


def rests_of(folded: str) -> list[str]:
    """How a folded name goes on from each of its words, each once, without what lies beyond the longest."""
    words = folded.split(" ")
    return list(dict.fromkeys(" ".join(words[place:])[:LONGEST_REST] for place in range(len(words))))


def words_of(name: str) -> frozenset[str]:
    """The words of a name that count when it is compared with another: in any script, without articles and the like.

    What is written without spaces counts by its pairs of characters. A name that has no other words has those, and one
    without any is a word itself.
    """
    folded = fold_name(name)
    words = [word for part in WORD.findall(folded) for word in _pieces(part)]
    return frozenset(word for word in words if word not in SILENT) or frozenset(words) or frozenset((folded,))


def _pieces(word: str) -> list[str]:
    """A word itself; where it has runs of a script without spaces, their pairs of characters and what lies between."""
    runs = UNSPACED.findall(word)
    if not runs:
        return [word]
    pairs = [run[place : place + 2] for run in runs for place in range(max(1, len(run) - 1))]
    return [*pairs, *(part for part in UNSPACED.split(word) if part)]


def marks_of(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """What tells a name from others of a series: its numbers, and its single letters, months, points of the compass, ….

    Numbers are in figures of any script, in Roman ones behind another word, and English words up to twenty.
    """
    numbers, others = set[str](), set[str]()
    for place, word in enumerate(WORD.findall(fold_name(name))):
        figures = re.findall(r"\d+", word)
        if figures:
            numbers.update(str(int(figure)) for figure in figures)
            others.update(re.findall(r"(?<=\d)[a-z](?![a-z])", ORDINAL.sub(r"\1", word)))
        elif word in NUMBER_WORDS:
            numbers.add(str(NUMBER_WORDS[word]))
        elif place > 0 and word != "x" and word != "v" and ROMAN.fullmatch(word):
            numbers.add(str(_roman(word)))
        elif word in SERIES or word[-1] in "+#" or (len(word) == 1 and UNSPACED.match(word) is None):
            others.add(word)
    return frozenset(numbers), frozenset(others)


def _roman(word: str) -> int:
    values = [ROMAN_VALUES[letter] for letter in word]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def keys_of(type_: str, words: frozenset[str]) -> list[int]:
    """The keys under which a name of a type is kept, so that a name of a Jaccard similarity of at least 0.5 finds it.

    Names of n and m words must share (n + m) / 3 of them. One word suffices only where both have three together; all
    others share two. So there is a key for each pair of words, and for a word alone where the name has at most two.
    Each is 63 bits of a hash; what has the same by chance is told apart by its words.
    """
    if len(words) > MOST_WORDS:
        return []
    alone = [(word,) for word in sorted(words)] if len(words) <= 2 else []
    return [_key(type_, *several) for several in (*alone, *combinations(sorted(words), 2))]


def keys_asked(type_: str, words: frozenset[str]) -> list[tuple[int, int]]:
    """The keys under which names similar to these words are looked for, each with how many words those may have."""
    keys = keys_of(type_, words)
    alone = len(words) if keys and len(words) <= 2 else 0
    return [(key, 3 - len(words) if place < alone else 2 * len(words)) for place, key in enumerate(keys)]


def _key(*parts: str) -> int:
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def predicate_of(text: str) -> str:
    """A predicate as it is kept: lower case, its words joined by `_`."""
    return "_".join(part for part in WORDS_A_PREDICATE.split(fold(text).casefold()) if part)
