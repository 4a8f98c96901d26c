"""Who a phrase is about and what it says of them: what stands before it, and what behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ebbtide.types.graph import EntityType
from ebbtide.write.extract.name_words import COMPANY_ENDINGS, TITLES
from ebbtide.write.extract.names import Names
from ebbtide.write.extract.relation import Language, Phrase, Relation, verbs_of
from ebbtide.write.extract.tokens import Sentence, Words
from ebbtide.write.extract.word_list import listed
from ebbtide.write.words import DAYS, PARTICLES

__all__ = ["SPEAKER", "Part", "Subject", "may_begin", "object_of", "phrase_of", "subjects_of"]

SPEAKER = ""
"""The name of the subject "I", before anybody knows who that is."""

MOST_OBJECT_WORDS = 8
MOST_SKILL_WORDS = 2
NO_SKILLS = listed(
    """
    a an the more lots new how from about on with by
    """
)
# Words that do so only before "that": "keep in mind that".
REMINDING_THAT = listed("note mind aware know reminder")
# Endings of what is no place and no company, though it is written as a name.
ABSTRACT = ("ung", "heit", "keit", "schaft", "nis", "tät", "tion")
# Behind a name they make another verb of the one before it: "leads Bob to the door".
DIRECTIONS = frozenset({"to", "by"})
MANNERS = ("ing", "ly", "-time")
MANNER_WORDS = listed("alone together enough less more")
WHEN = listed(
    "on last next this every each before after until till during together alone via per hasta jusqu'en bis ab"
)
MONTHS = listed(
    """
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août
    septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre
    diciembre
    """
)
DATE_JOINTS = frozenset({",", ".", "the", "of", "de"})
MARKS = frozenset('.,;:!?…()[]{}"“”„«»‘`–—-*/|><=\n')
BREAKS = frozenset({",", ";", ":", "–", "—", "but", "aber", "mais", "pero", "("})
PREPOSITIONS = listed(
    """
    of from with for to in at by near about than like against between von mit bei aus für zu im am de du des avec pour
    chez à en con para por sobre del 's
    """
)
WHO = frozenset({"who"})
OR = ("or", "oder", "ou", "o")
OFFERING = frozenset({",", "-", "–", "—"})
# Words behind a phrase that narrow it down, or offer another one.
LEFT_OPEN = frozenset({"or", "oder", "ou", "o", "/", "(", ":", "that", "which", "who", "whom", "whose", "where"})
TRAILING = listed(
    """
    now today currently too again anymore well lot much soon lately really also either though there here yet still ever
    always so very a as these days right
    """
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Who a phrase is about: the places of the words, and the name, which is empty for the speaker."""

    name: str
    first: int
    behind: int


@dataclass(frozen=True, slots=True)
class Part:
    """The object of a phrase: the places of its words with the article, and of the name in them, if it is one."""

    first: int
    behind: int
    name: tuple[int, int] | None
    type: EntityType | None


def subjects_of(
    words: Words, names: Names, sentence: Sentence, phrase: Phrase, place: int, before: Sequence[tuple[int, Subject]]
) -> list[Subject]:
    """Whom a phrase at a place is about, nobody where that is not clear; `before` are the facts of its sentence."""
    language, lower = phrase.language, words.lower
    last = place - 1
    while last >= sentence.first and (
        lower[last] in language.adverbs or (phrase.person == "either" and lower[last] in language.having)
    ):
        last -= 1
    if language.drops_i and phrase.person == "first" and may_begin(words, sentence, language, last + 1):
        # The form must not be that of somebody else too.
        alone = " ".join(phrase.words) not in phrase.relation.third.split("|")
        if alone and (last < sentence.first or lower[last] not in language.i):
            return [Subject(SPEAKER, place, place + 1)]
    if last < sentence.first:
        return []
    if lower[last] in language.i or (lower[last] in language.we and _we_may(phrase)):
        return _speaker(words, names, sentence, phrase, last)
    named = names.ends.get(last + 1)
    if named is not None and named >= sentence.first:
        return _named(words, names, sentence, phrase, named, last + 1)
    if lower[last] in WHO and phrase.person in ("third", "either"):
        behind = last if last - 1 >= 0 and lower[last - 1] != "," else last - 1
        named = names.ends.get(behind)
        if named is not None and named >= sentence.first:
            return [_subject(words, named, behind)]
        return []
    if lower[last] in language.joining or lower[last] in BREAKS:
        return _same_as_before(words, language, phrase, last, before)
    return []


def _we_may(phrase: Phrase) -> bool:
    """Whether what "we" do holds of the speaker alone too."""
    return phrase.person == "first" and phrase.relation.object == "PLACE"


def _speaker(words: Words, names: Names, sentence: Sentence, phrase: Phrase, last: int) -> list[Subject]:
    """The speaker, and who is named with them, as in "Bob and I"."""
    if phrase.person not in ("first", "either", "plural"):
        return []
    lower, language = words.lower, phrase.language
    start = last - 1
    if not may_begin(words, sentence, language, last):
        return []
    me = Subject(SPEAKER, last, last + 1)
    if start > sentence.first and lower[start] in language.joining:
        other = names.ends.get(start)
        if other is not None and other >= sentence.first and may_begin(words, sentence, language, other):
            return [_subject(words, other, start), me]
    return [me] if phrase.person != "plural" else []


def _named(words: Words, names: Names, sentence: Sentence, phrase: Phrase, first: int, behind: int) -> list[Subject]:
    """The one that is named before the phrase, or the two that are."""
    lower, language = words.lower, phrase.language
    if phrase.person == "first":
        return []
    one = _subject(words, first, behind)
    start = first - 1
    if start >= sentence.first and lower[start] in TITLES:
        start -= 1
    joined = start > sentence.first and lower[start] in language.joining
    if joined and phrase.person in ("plural", "either"):
        other = names.ends.get(start)
        if other is not None and other >= sentence.first and may_begin(words, sentence, language, other):
            return [_subject(words, other, start), one]
        if lower[start - 1] in language.i:
            return [Subject(SPEAKER, start - 1, start), one]
        return []
    if phrase.person == "plural" or not may_begin(words, sentence, language, start + 1):
        return []
    return [one]


def may_begin(words: Words, sentence: Sentence, language: Language, first: int) -> bool:
    """Whether a name that begins at a place may be the subject: nothing before it makes it a part of something else."""
    before = first - 1
    if before < sentence.first:
        return True
    word = words.lower[before]
    if word in language.that and before > sentence.first:
        return words.lower[before - 1] in language.reminding | REMINDING_THAT
    return (
        # The end of a contraction is a word: in "I'm Ann and I" it is not Ann who does what comes next.
        not word.lstrip("'")[:1].isalpha()
        or word in language.reminding
        or word in language.joining
        or word in BREAKS
        or word in language.opening
        or word in language.adverbs
        or word in language.relatives
        or word in TITLES
    )


def _subject(words: Words, first: int, behind: int) -> Subject:
    return Subject(words.piece(first, behind), first, behind)


def _same_as_before(
    words: Words, language: Language, phrase: Phrase, last: int, before: Sequence[tuple[int, Subject]]
) -> list[Subject]:
    """The subject of the fact that a phrase is joined to, as in "lives in Berlin and works at Acme"."""
    if words.lower[last] not in language.joining and words.lower[last] != "but":
        return []
    end = last - 1 if last and words.lower[last - 1] == "," else last
    wanted = ("first", "either") if phrase.person == "first" else ("third", "either")
    found = [subject for behind, subject in before if behind == end]
    if not found or phrase.person == "plural":
        return []
    same_person = (found[-1].name == SPEAKER) == (phrase.person == "first") or phrase.person == "either"
    return [found[-1]] if same_person and phrase.person in wanted else []


def object_of(
    words: Words, names: Names, sentence: Sentence, language: Language, relation: Relation, place: int
) -> Part | None:
    """What is said, from a place on; None where that is not what the relation needs."""
    if place >= sentence.behind:
        return None
    if relation.object == "anything":
        return phrase_of(words, names, sentence, language, place)
    if relation.object == "thing":
        return _thing(words, names, sentence, language, place)
    if relation.object == "date":
        return _date(words, sentence, place)
    if relation.object == "language":
        return _language(words, names, sentence, language, place)
    if relation.object == "SKILL":
        return _skill(words, names, sentence, language, relation, place)
    return _name(words, names, sentence, language, relation, place)


def _name(
    words: Words, names: Names, sentence: Sentence, language: Language, relation: Relation, place: int
) -> Part | None:
    start = place + 1 if words.lower[place] in language.articles else place
    if start < sentence.behind and words.lower[start] in TITLES:
        start += 1
    behind = names.runs.get(start)
    if behind is None or behind > sentence.behind or _goes_on(words, sentence, language, relation, behind):
        return None
    told = names.types.get(words.piece(start, behind))
    wanted = None if relation.object == "name" else relation.object
    article = start > place
    if language.capital_nouns and words.lower[behind - 1].endswith(ABSTRACT):
        return None
    if (relation.needs_cue or (language.capital_nouns and article)) and told != wanted:
        return None
    if wanted is not None and told is not None and told != wanted:
        return None
    named = told if wanted is None else _as_type(wanted)
    noun = (article or wanted != "PLACE") and _has_noun(words, sentence, language, relation, behind)
    if noun and (told is None or not article):
        return None
    return Part(place, behind + noun, (start, behind), named)


def _has_noun(words: Words, sentence: Sentence, language: Language, relation: Relation, behind: int) -> bool:
    """Whether a word behind a name is more than grammar, so that the name is not all: "the Apollo project"."""
    if behind >= sentence.behind:
        return False
    word = words.lower[behind]
    closed = (
        PREPOSITIONS | BREAKS | WHEN | TRAILING | language.joining | language.ending | language.adverbs
        | language.auxiliaries | language.denying
    )  # fmt: skip
    if word in relation.lasting or word == relation.joint:
        return False
    return word in DIRECTIONS or (word[0].isalpha() and word not in closed and not word.endswith(MANNERS))


def _as_type(kind: str) -> EntityType | None:
    types: dict[str, EntityType] = {
        "PERSON": "PERSON", "COMPANY": "COMPANY", "PROJECT": "PROJECT", "SKILL": "SKILL", "EVENT": "EVENT",
        "PLACE": "PLACE", "PRODUCT": "PRODUCT", "TOPIC": "TOPIC",
    }  # fmt: skip
    return types.get(kind)


def _goes_on(words: Words, sentence: Sentence, language: Language, relation: Relation, behind: int) -> bool:
    """Whether the words behind a name make something else of it: its owner, one of two, or a part of a longer name."""
    if behind >= sentence.behind:
        return False
    following = words.lower[behind]
    if following in OR or following in ("/", "'s", "’s", "&", "that"):
        return True
    if words.words[behind].isalpha() and words.words[behind][0].isupper() and following not in language.i:
        return True
    if following == "." or (relation.object == "PLACE" and following[0].isdigit()):
        return True
    if following in OFFERING and words.lower[behind + 1 : behind + 2] in ([one] for one in OR):
        return True
    return following == "-" and words.lower[behind - 1] not in COMPANY_ENDINGS


def _thing(words: Words, names: Names, sentence: Sentence, language: Language, place: int) -> Part | None:
    """A thing with its article: "a Tesla Model 3", "two cats"."""
    if words.lower[place] not in ("a", "an", "two", "three", "four", "five", "several", "many"):
        return None
    part = phrase_of(words, names, sentence, language, place)
    if part is None:
        return None
    behind = names.runs.get(place + 1)
    if behind is not None and behind == part.behind:
        return Part(place, behind, (place + 1, behind), "PRODUCT")
    return part


def _skill(
    words: Words, names: Names, sentence: Sentence, language: Language, relation: Relation, place: int
) -> Part | None:
    """A skill: capitalised as "Python" or "German", or one or two plain words, as "woodworking"."""
    run = names.runs.get(place)
    if run is not None and run <= sentence.behind and names.types.get(words.piece(place, run)) in (None, "SKILL"):
        whole = not _has_noun(words, sentence, language, relation, run)
        return Part(place, run, (place, run), "SKILL") if whole else None
    if words.words[place][0].isupper():
        return Part(place, place + 1, (place, place + 1), "SKILL")
    part = phrase_of(words, names, sentence, language, place)
    if part is None or part.behind - part.first > MOST_SKILL_WORDS or words.lower[place] in NO_SKILLS:
        return None
    if words.lower[part.behind - 1].endswith("ly"):
        return None
    return Part(part.first, part.behind, (part.first, part.behind), "SKILL")


def _language(words: Words, names: Names, sentence: Sentence, language: Language, place: int) -> Part | None:
    """A language, which is capitalised; where every noun is, it has the ending that languages have: "Deutsch"."""
    if (
        not words.words[place][0].isupper()
        or words.lower[place] in DAYS
        or (language.capital_nouns and not words.lower[place].endswith("sch"))
    ):
        return None
    behind = names.runs.get(place, place + 1)
    if behind > sentence.behind or names.types.get(words.piece(place, behind)) not in (None, "SKILL"):
        return None
    return Part(place, behind, (place, behind), "SKILL")


def _date(words: Words, sentence: Sentence, place: int) -> Part | None:
    """A date in figures and names of months, such as "4 May 1987" or "1987"."""
    behind = place
    while behind < sentence.behind and (
        words.lower[behind][0].isdigit() or words.lower[behind] in MONTHS or words.lower[behind] in DATE_JOINTS
    ):
        behind += 1
    while behind > place and words.lower[behind - 1] in DATE_JOINTS:
        behind -= 1
    if not any(words.words[one][0].isdigit() for one in range(place, behind)):
        return None
    return Part(place, behind, None, None)


def phrase_of(words: Words, names: Names, sentence: Sentence, language: Language, place: int) -> Part | None:
    """The phrase from a place up to where its sentence turns to something else.

    None where it is empty or long, or points to something that is not said here.
    """
    lower = words.lower
    behind = place
    while behind < sentence.behind:
        word = lower[behind]
        if word in MARKS or word in language.ending or word[0] == "\n":
            break
        if word in language.joining and (
            behind + 1 >= sentence.behind
            # What goes on with "likes to work late and leaves at nine" is no more of the infinitive.
            or (lower[place] == "to" and lower[behind + 1].endswith("s"))
            or lower[behind + 1] in language.pointing
            or lower[behind + 1] in language.auxiliaries
            or lower[behind + 1] in language.i
            or lower[behind + 1] in language.adverbs
            or lower[behind + 1] in language.we
            or lower[behind + 1] in verbs_of(language)
        ):
            break
        if behind - place >= MOST_OBJECT_WORDS:
            return None
        behind += 1
    while behind > place and (lower[behind - 1] in TRAILING or lower[behind - 1] in language.adverbs):
        behind -= 1
    if behind - place == 1 and (lower[place] in PARTICLES or lower[place] in MANNER_WORDS):
        return None
    if behind == place or any(
        lower[one] in language.pointing or lower[one] in language.i for one in range(place, behind)
    ):
        return None
    if lower[place] in language.joining or (lower[place] in language.denying and lower[place] != "not"):
        return None
    if lower[behind - 1] in PREPOSITIONS or (
        behind - place > 1 and lower[behind - 2] in ("a", "an") and behind < sentence.behind and lower[behind] == ","
    ):
        return None
    if behind < sentence.behind and lower[behind] in LEFT_OPEN:
        return None
    whole = names.runs.get(place)
    if whole == behind:
        return Part(place, behind, (place, behind), names.types.get(words.piece(place, behind)))
    return Part(place, behind, None, None)
