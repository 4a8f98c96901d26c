"""The names in a text, and what the words around each tell of its type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ebbtide.types.graph import EntityType
from ebbtide.write.extract.name_words import (
    COMPANY_ENDINGS,
    CONNECTORS,
    EVENT_WORDS,
    GREETINGS,
    NO_NAMES,
    ORGANISATION_WORDS,
    PERSON_NOUNS,
    PERSON_VERBS,
    PLACE_PHRASES,
    PLACE_WORDS,
    PROJECT_WORDS,
    TEAM_WORDS,
    TITLES,
)
from ebbtide.write.extract.tokens import Sentence, Words
from ebbtide.write.extract.word_list import listed

__all__ = ["Names", "names_of"]

MOST_WORDS = 6
# A sentence in which more words than this begin with a capital letter is a headline or shouted.
CAPITAL_SHARE = 0.75
LEAST_WORDS = 4
YEAR_DIGITS = 4
# A longer word all in capitals is shouted rather than an abbreviation.
LONGEST_ABBREVIATION = 4
APOSTROPHES = "'’"
NEVER = NO_NAMES | TITLES
ARTICLES = listed(
    """
    the la las los le les der den dem das
    """
)


@dataclass(slots=True)
class Names:
    """The runs of words that are names: the place behind each by its first place, and their types by text.

    `sure` are the first places of those that are names beyond doubt, as one at the beginning of a sentence seldom is.
    """

    runs: dict[int, int] = field(default_factory=dict[int, int])
    ends: dict[int, int] = field(default_factory=dict[int, int])
    types: dict[str, EntityType | None] = field(default_factory=dict[str, EntityType | None])
    sure: set[int] = field(default_factory=set[int])

    def note(self, name: str, type_: EntityType) -> None:
        """Write down what a cue tells of a name; two that contradict each other tell nothing."""
        known = self.types.get(name, type_)
        self.types[name] = type_ if known == type_ else None


def names_of(words: Words, sentences: Collection[Sentence], known: Mapping[str, EntityType]) -> Names:
    """The names in a text. Those of `known` are names wherever they stand, and of those types."""
    names = Names()
    names.types.update(known)
    for sentence in sentences:
        _runs(words, sentence, names, known)
    inside = {words.piece(first, behind) for first, behind in names.runs.items() if first in names.sure}
    firsts = {parts[0] for name in known if (parts := name.split())}
    for first, behind in names.runs.items():
        text = words.piece(first, behind)
        if text in inside or text in known or words.words[first] in firsts or behind - first > 1:
            names.sure.add(first)
    for first, behind in list(names.runs.items()):
        _cue(words, first, behind, names)
    return names


def _runs(words: Words, sentence: Sentence, names: Names, known: Mapping[str, EntityType]) -> None:
    """Write down the names of a sentence, unless it is a headline."""
    tokens, first, behind = words.words, sentence.first, sentence.behind
    capitals = sum(tokens[place][0].isupper() for place in range(first, behind))
    if not capitals:
        return
    letters = sum(tokens[place][0].isalpha() for place in range(first, behind))
    if letters >= LEAST_WORDS and capitals > CAPITAL_SHARE * letters:
        return
    place = first
    opening = True
    while place < behind:
        if not may_name(words, place):
            opening = opening and not tokens[place][0].isalnum()
            place += 1
            continue
        end = _run_end(words, place, behind)
        if opening and end - place > 1 and words.piece(place + 1, end) in known:
            place += 1
        # The word that a sentence begins with is capitalised whatever it is.
        names.runs[place] = end
        names.ends[end] = place
        if not opening:
            names.sure.add(place)
        opening = False
        place = end


def may_name(words: Words, place: int) -> bool:
    """Whether the word at a place is written as a name is."""
    word = words.words[place]
    if not any(map(str.isupper, word[:3])) or not word[0].isalpha():
        return False
    if not word[0].isupper():
        return len(word) > 2 and word.isalpha() and word[1].isupper()
    if word.isupper() and len(word) > LONGEST_ABBREVIATION:
        return False
    return len(word) > 1 and word[-1] not in APOSTROPHES and words.lower[place] not in NEVER


def _run_end(words: Words, place: int, behind: int) -> int:
    """The place behind a name that begins at a place."""
    tokens, lower = words.words, words.lower
    end = place + 1
    limit = min(behind, place + MOST_WORDS)
    while end < limit:
        if lower[end - 1] in COMPANY_ENDINGS:
            break
        following = tokens[end]
        if may_name(words, end) or (following[0].isupper() and lower[end] in COMPANY_ENDINGS):
            end += 1
        elif following.isdigit() and len(following) < YEAR_DIGITS and end + 1 <= behind:
            end += 1
            break
        elif lower[end] in CONNECTORS and end + 1 < limit and may_name(words, end + 1):
            end += 2
        elif lower[end] in CONNECTORS and end + 2 < limit and lower[end + 1] in ARTICLES and may_name(words, end + 2):
            end += 3
        else:
            break
    return end


def _cue(words: Words, first: int, behind: int, names: Names) -> None:
    """Write down what the words in and around a name tell of its type."""
    name = words.piece(first, behind)
    inner = words.lower[first:behind]
    by_itself = _by_its_words(inner) if len(inner) > 1 else None
    if by_itself is not None:
        names.note(name, by_itself)
        names.sure.add(first)
        return
    told = _by_neighbours(words, first, behind)
    if told is not None:
        names.note(name, told)
        names.sure.add(first)


def _by_its_words(inner: list[str]) -> EntityType | None:
    last = inner[-1]
    if last in COMPANY_ENDINGS or last in ORGANISATION_WORDS or inner[0] in ORGANISATION_WORDS:
        return "COMPANY"
    if last in PLACE_WORDS or inner[0] in ("lake", "mount", "mt.", "río", "san", "new"):
        return "PLACE"
    if last in EVENT_WORDS:
        return "EVENT"
    if last in PROJECT_WORDS or inner[0] in PROJECT_WORDS:
        return "PROJECT"
    return "COMPANY" if last in TEAM_WORDS or inner[0] in TEAM_WORDS else None


def _by_neighbours(words: Words, first: int, behind: int) -> EntityType | None:
    """The type of a name by what stands before and behind it."""
    lower, count = words.lower, len(words.lower)
    before = lower[first - 1] if first else "\n"
    earlier = lower[first - 2] if first > 1 else ""
    after = lower[behind] if behind < count else ""
    later = lower[behind + 1] if behind + 1 < count else ""
    single = behind - first == 1
    if before in TITLES and before not in PERSON_NOUNS:
        return "PERSON"
    if f"{earlier} {before}" in PLACE_PHRASES or before == "downtown":
        return "PLACE"
    if after in PROJECT_WORDS and before in ("the", "our", "das", "le", "el"):
        return "PROJECT"
    if after in EVENT_WORDS and before in ("the", "a", "this"):
        return "EVENT"
    if after in TEAM_WORDS and before == "the":
        return "COMPANY"
    if single and _is_person(before, earlier, after, later):
        return "PERSON"
    return None


def _is_person(before: str, earlier: str, after: str, later: str) -> bool:
    """Whether the neighbours of a single word tell that it is a person's name."""
    if after in PERSON_VERBS or (after == "'s" and later in PERSON_NOUNS):
        return True
    if before in PERSON_NOUNS and earlier in ("my", "his", "her", "our", "'s", "their"):
        return True
    if before in ("named", "called") and earlier in PERSON_NOUNS:
        return True
    if before in GREETINGS or (before == "," and earlier in GREETINGS):
        return after in ("", ",", "!", ".", "?", "\n")
    return False
