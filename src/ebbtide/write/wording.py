"""What two texts say differently: numbers, names, negation, opposites, language; read from their words alone."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache

from ebbtide.write.words import (
    ANTONYMS,
    AUXILIARIES,
    COMPARING,
    DAYS_AND_NUMBERS,
    FORMER,
    FORMER_UNSPACED,
    FRENCH_PARTICLES,
    FUNCTION_WORDS,
    IRREGULAR,
    LASTING,
    NEGATIONS,
    OPPOSITE_PREFIXES,
    PARTICLES,
    PAST_AUXILIARIES,
    PAST_STATES,
    UNTIL,
    USED,
)

__all__ = [
    "TEXTS_REMEMBERED",
    "WORD",
    "WORDS_A_CHANGE",
    "Wording",
    "contradict",
    "differ",
    "plain_words",
    "read_wording",
    "stem",
]

# Scripts without spaces between words: there each character counts as a word.
UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
NUMBER = r"\d+(?:[.,:/-]\d+)*"
WORD = re.compile(rf"{NUMBER}|[{UNSPACED}]|[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*", re.UNICODE)
DIGITS = re.compile(NUMBER)
FORMERLY = re.compile(
    rf"(?<![\w'])(?:(?:{'|'.join(sorted(USED))}) used to|(?P<former>{'|'.join(FORMER)}))(?!\w)"
    rf"(?! (?:{'|'.join(sorted(COMPARING))})\b)"
)
CONTRACTED = re.compile(r"(?:n['’]t|(?<=[a-z])nt)$")
CONTRACTED_VERBS = frozenset({
    "aint", "arent", "cant", "couldnt", "didnt", "doesnt", "dont", "hadnt", "hasnt", "havent", "isnt", "mustnt",
    "shouldnt", "wasnt", "werent", "wont", "wouldnt",
})  # fmt: skip
SUFFIXES = ("ing", "ied", "ies", "ed", "es", "s", "e")
LEAST_STEM = 3
# One word more or less in six leaves a sentence the same sentence.
WORDS_A_CHANGE = 6
# What was read of so many texts is kept: those of a batch and of what they are compared with.
TEXTS_REMEMBERED = 4_096


@dataclass(frozen=True, slots=True)
class Wording:
    """One text, read for comparison.

    Attributes:
        numbers: figures as written, number words, weekdays and months, each as often as it occurs.
        names: words that may be names, in order: capitalised ones, or all where a text or its script has no capitals.
        negations: how many there are; the two halves of a French one count once.
        stems: the other words without their endings, each as often as it occurs.
        words: every word in lower case.
        scripts: such as LATIN and HAN.
        language: `en`, `de`, `es` or `fr` where its commonest words tell, else None.
        asks: whether it ends in a question mark.
        former: whether it says what was so once: "used to live", "lived", "was open until 2020".
    """

    numbers: Counter[str]
    names: tuple[str, ...]
    capitals: bool
    negations: int
    stems: Counter[str]
    words: frozenset[str]
    scripts: frozenset[str]
    language: str | None
    asks: bool
    former: bool


@lru_cache(TEXTS_REMEMBERED)
def read_wording(text: str) -> Wording:
    """The wording of a text."""
    tokens: list[str] = WORD.findall(unicodedata.normalize("NFC", text))
    lowered = [token.lower().replace("’", "'") for token in tokens]
    numbers = Counter(
        word for word in lowered if DIGITS.fullmatch(word) or (word in DAYS_AND_NUMBERS and word != "may")
    )
    negations = 0
    stems = Counter[str]()
    for word in lowered:
        negated, rest = without_negation(word)
        negations += negated
        if rest and rest not in AUXILIARIES and not DIGITS.fullmatch(rest):
            stems[stem(rest)] += 1
    if any(word in FRENCH_PARTICLES or word.startswith("n'") for word in lowered) and negations > 1:
        negations -= 1
    capitals = any(token[0].isupper() for token in tokens)
    named = [word for word, token in zip(lowered, tokens, strict=True) if not capitals or token[0].isupper()]
    return Wording(
        numbers=numbers,
        names=tuple(word for word in named if word not in NO_NAMES and word not in numbers),
        capitals=capitals,
        negations=negations,
        stems=stems,
        words=frozenset(lowered),
        scripts=scripts_of(text),
        language=language_of(lowered),
        asks=text.rstrip().endswith(("?", "？", "؟")),
        former=tells_of_former(text, lowered),
    )


def tells_of_former(text: str, words: list[str]) -> bool:
    """Whether a text, given with its words in lower case, says what was so once."""
    said = text.lower().replace("’", "'")
    if any(found["former"] for found in FORMERLY.finditer(said)) or any(one in text for one in FORMER_UNSPACED):
        return True
    if not PAST_STATES.isdisjoint(words) and LASTING.isdisjoint(words):
        return True
    was = next((place for place, word in enumerate(words) if word in PAST_AUXILIARIES), len(words))
    return not UNTIL.isdisjoint(words[was:])


def differ(one: Wording, other: Wording) -> bool:
    """Whether two texts differ in what no nearness of vectors makes up for.

    That is a number, a negation, an opposite, a name or its place, the language or script, being a question, or being
    of what was once.
    """
    return (
        apart(one, other)
        or one.negations != other.negations
        or names_differ(one, other)
        or opposites(one.stems - other.stems, other.stems - one.stems) > 0
    )


def contradict(one: Wording, other: Wording) -> bool:
    """Whether two texts say the same thing, once affirmed and once denied: by a negation, or by an opposite."""
    if apart(one, other) or (one.capitals and other.capitals and names_differ(one, other)):
        return False
    gone, come = meaningful(one.stems - other.stems), meaningful(other.stems - one.stems)
    pairs = opposites(one.stems - other.stems, other.stems - one.stems)
    flips = pairs + abs(one.negations - other.negations)
    size = max(min(one.stems.total(), other.stems.total()), 1)
    changes = max(gone.total(), come.total()) - pairs
    return flips % 2 == 1 and pairs <= 1 and changes <= size // WORDS_A_CHANGE


def plain_words(wording: Wording) -> set[str]:
    """The stems of a text, without what belongs to grammar."""
    return {word for word in wording.stems if word not in PARTICLES}


def apart(one: Wording, other: Wording) -> bool:
    """Whether two texts differ in their numbers, script or language, or in that one asks or says what was once."""
    languages = {one.language, other.language} - {None}
    told = (one.numbers, one.scripts, one.asks, one.former) == (other.numbers, other.scripts, other.asks, other.former)
    return not told or len(languages) > 1


def names_differ(one: Wording, other: Wording) -> bool:
    """Whether a word that may be a name is in one text alone, or names that both have change places."""
    if any(name not in other.words for name in one.names) or any(name not in one.words for name in other.names):
        return True
    both = {*one.names} & {*other.names}
    return [name for name in one.names if name in both] != [name for name in other.names if name in both]


def meaningful(words: Counter[str]) -> Counter[str]:
    """The words without those that only hold a sentence together."""
    return Counter({word: count for word, count in words.items() if word not in PARTICLES})


def opposites(gone: Counter[str], come: Counter[str]) -> int:
    """How many words of one side have an opposite among those of the other."""
    return sum(not come.keys().isdisjoint(opposites_of(one)) for one in gone)


def opposites_of(word: str) -> set[str]:
    """The stems that mean the opposite of one: listed, or by a prefix such as un- or dis-."""
    found = {word.removeprefix(prefix) for prefix in OPPOSITE_PREFIXES if len(word) > LEAST_STEM + len(prefix)} - {word}
    if len(word) > LEAST_STEM:
        found |= {prefix + word for prefix in OPPOSITE_PREFIXES}
    return found | OPPOSITE_STEMS.get(word, set())


def listed_opposites() -> dict[str, set[str]]:
    """The listed opposites of each stem that has any."""
    found: dict[str, set[str]] = defaultdict(set)
    for one, other in ANTONYMS:
        found[stem(one)].add(stem(other))
        found[stem(other)].add(stem(one))
    return dict(found)


def without_negation(word: str) -> tuple[int, str]:
    """How many negations a word is or holds, and what is left of it."""
    if word in NEGATIONS:
        return 1, ""
    if word.endswith("n't") or word in CONTRACTED_VERBS:
        return 1, CONTRACTED.sub("", word)
    if word.startswith("n'"):
        return 1, word[2:]
    return 0, word


@lru_cache(TEXTS_REMEMBERED)
def stem(word: str) -> str:
    """A word without its commonest ending; irregular past tenses become the present."""
    plain = IRREGULAR.get(word, word).removesuffix("'s")
    for suffix in SUFFIXES:
        if plain.endswith(suffix) and len(plain) - len(suffix) >= LEAST_STEM:
            plain = plain.removesuffix(suffix)
            break
    return plain[:-1] if len(plain) > LEAST_STEM and plain[-1] == plain[-2] else plain


def scripts_of(text: str) -> frozenset[str]:
    """The scripts of a text's letters, by the first word of their Unicode names."""
    if text.isascii():
        return frozenset({"LATIN"} if any(map(str.isalpha, text)) else ())
    letters = {character for character in text if character.isalpha()}
    return frozenset(unicodedata.name(letter, "?").split()[0].split("-")[0] for letter in letters)


def language_of(words: list[str]) -> str | None:
    """The language whose commonest words are the most, None where there are none or two languages have as many."""
    counts = sorted(
        ((sum(word in common for word in words), language) for language, common in FUNCTION_WORDS.items()), reverse=True
    )
    return counts[0][1] if counts[0][0] > counts[1][0] else None


NO_NAMES = AUXILIARIES.union(NEGATIONS, *FUNCTION_WORDS.values())
OPPOSITE_STEMS = listed_opposites()
