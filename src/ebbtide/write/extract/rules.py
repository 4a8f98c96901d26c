"""Reads facts and names from a text by rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest

from ebbtide.types.extraction import Findings, FoundFact, Name
from ebbtide.types.graph import EntityType
from ebbtide.write.extract.belongings import belonging_at
from ebbtide.write.extract.certainty import is_certain, is_doubted, takes_back
from ebbtide.write.extract.clauses import SPEAKER, Part, Subject, object_of, subjects_of
from ebbtide.write.extract.endings import is_ended, part_ways
from ebbtide.write.extract.english import ENGLISH
from ebbtide.write.extract.french import FRENCH
from ebbtide.write.extract.german import GERMAN
from ebbtide.write.extract.name_words import NO_NAMES
from ebbtide.write.extract.names import Names, names_of
from ebbtide.write.extract.relation import Language, Phrase, Relation, belongings_of, phrases_of
from ebbtide.write.extract.spanish import SPANISH
from ebbtide.write.extract.tokens import Sentence, Words, sentences_of, words_of
from ebbtide.write.extract.word_list import listed
from ebbtide.write.wording import language_of
from ebbtide.write.words import NEGATIONS

__all__ = ["EXTRACTOR", "PAST_PREDICATES", "Dated", "Dates", "extract"]

EXTRACTOR = "rules/1"
"""How the metadata of a fact names these rules."""

LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH)
PHRASES = phrases_of(LANGUAGES)
BELONGINGS = belongings_of(LANGUAGES)
PAST_PREDICATES = frozenset(
    relation.predicate for language in LANGUAGES for relation in language.relations if relation.tense == "over"
)
"""What the relations are called that say what was so once."""
OWNER, OBJECT = "{owner}", "{object}"
OWNERS = "{owner}'s "
SPEAKERS = frozenset({"user", "human", "me", "customer", "client"})
OTHERS = frozenset({"assistant", "ai", "bot", "system", "agent", "model", "chatgpt"})
NOW = "now"
LEADING_IN = NO_NAMES | listed(
    "quick fun fyi btw ps psa intro context background bio profile info fact facts self memo"
)
WEIGHTY = listed(
    """
    important importantly remember critical crucial urgent essential vital wichtig
    """
)
WEIGHTY_IMPORTANCE = 0.85
PASSING = 0.5
MOST_WORDS_OF_LABEL = 2
SINCE = frozenset({"since", "for"})
# Of what a subject may have several of, "and" names one more.
MULTIPLE = frozenset({"manages", "leads", "speaks", "skilled_in", "learning", "uses", "member_of", "works_on"})


@dataclass(frozen=True, slots=True)
class Dated:
    """A stretch of time that a sentence names, in UTC; an end that is None is open."""

    start: datetime | None
    end: datetime | None
    text: str


Dates = Callable[[str, datetime | None], Sequence[Dated]]
"""Reads the times that a text names, as seen from the moment it was noticed, where that is known."""


@dataclass(slots=True)
class Reading:
    """A sentence while it is read, and the one that comes next.

    `before` are the places behind its facts so far, and whom each is about.
    """

    words: Words
    names: Names
    sentence: Sentence
    following: Sentence | None
    speaker: str | None
    observed_at: datetime | None
    dates: Dates | None
    before: list[tuple[int, Subject]] = field(default_factory=list[tuple[int, Subject]])
    _doubted: dict[str, bool] = field(default_factory=dict[str, bool])
    _times: Sequence[Dated] | None = None

    def doubted(self, language: Language) -> bool:
        """Whether the sentence leaves open what it says, by the words of a language."""
        if language.code not in self._doubted:
            doubted = is_doubted(self.words, self.sentence, language)
            unsaid = self.following is not None and takes_back(self.words, self.following, language)
            self._doubted[language.code] = doubted or unsaid
        return self._doubted[language.code]

    def ended(self, language: Language, relation: Relation, subject: Subject, part: Part) -> bool:
        """Whether what is said is over by what comes behind it."""
        if relation.object == "PERSON" and self.following and part_ways(self.words, self.following, language):
            return relation.tense != "over"
        return is_ended(self.words, self.names, self.sentence, language, relation, subject, part)

    def may_say(self, subjects: Sequence[Subject], place: int, language: Language) -> bool:
        """Whether what is said at a place of some subjects is so, and it is known who "I" is not."""
        if any(subject.name == SPEAKER and self._is_of_another(subject) for subject in subjects):
            return False
        return is_certain(self.words, self.sentence, language, subjects[0].first, place)

    def _is_of_another(self, subject: Subject) -> bool:
        """Whether "I" is somebody else, as it is behind the mark by which a line of a chat names who says it."""
        first, mark = self.sentence.first, subject.first - 1
        if self.speaker == "" or mark < first or self.words.lower[mark] not in (":", ">"):
            return self.speaker == ""
        said = self.words.lower[first:mark]
        label = [word for word in said if word[0].isalpha()]
        if self.words.lower[mark] == ">" or not OTHERS.isdisjoint(label):
            return True
        if leads_in(label) or " ".join(label) == (self.speaker or "").lower():
            return False
        # Whoever is named before "remember this" is asked to.
        asked = max((place for place, word in enumerate(said) if word in ENGLISH.reminding), default=None)
        named = any(first + (asked or 0) <= place < mark for place in self.names.runs)
        return named or (asked is None and len(label) <= MOST_WORDS_OF_LABEL)

    def times(self) -> Sequence[Dated]:
        """The times that the sentence names."""
        if self._times is None:
            words, sentence = self.words, self.sentence
            told = words.text[words.starts[sentence.first] : words.ends[sentence.behind - 1]]
            self._times = () if self.dates is None else self.dates(told, self.observed_at)
        return self._times


def extract(
    text: str,
    *,
    speaker: str | None = None,
    observed_at: datetime | None = None,
    known: Mapping[str, EntityType] | None = None,
    dates: Dates | None = None,
) -> Findings:
    """The facts that a text states and the names in it, by rules; nothing that it asks, supposes, denies or quotes.

    Args:
        text: what was said, in any language; facts are found in English, and in part in German, French and Spanish.
        speaker: whose "I" it is, unless the text says so itself; empty where it is nobody's, as a machine's is.
        observed_at: when it was said.
        known: names that are known already, and of what type they are.
        dates: reads the times in it; without, no fact says since when it holds.
    """
    words = words_of(text)
    sentences = sentences_of(words)
    if not sentences:
        return Findings()
    labels = {one.speaker for one in sentences if one.speaker is not None}
    voices: dict[str, EntityType] = {name: "PERSON" for name in (speaker, *_voices(labels)) if name}
    names = names_of(words, sentences, {**voices, **(known or {})})
    if speaker is None:
        speaker = _introduced(words, names, sentences)
    facts: list[FoundFact] = []
    for sentence, following in zip_longest(sentences, sentences[1:]):
        said_by = _who_says(sentence, speaker, labels)
        facts += _facts(Reading(words, names, sentence, following, said_by, observed_at, dates))
    return Findings(tuple(facts), _named(words, names, facts))


def _voices(labels: Collection[str]) -> list[str]:
    """Those of the words that lines begin with that are names of people who take turns."""
    people = [label for label in labels if label.lower() not in SPEAKERS | OTHERS and not leads_in(label.split())]
    return people if len(labels) > 1 else []


def leads_in(label: Sequence[str]) -> bool:
    """Whether what stands before a colon is no name, and only leads in what is said: "about me", "please note"."""
    return all(word.lower() in LEADING_IN for word in label)


def _who_says(sentence: Sentence, speaker: str | None, labels: set[str]) -> str | None:
    """Who "I" is in a sentence; None where nobody knows, and "" where it is somebody else."""
    label = sentence.speaker
    if label is None or label == speaker:
        return speaker
    if label.lower() in OTHERS:
        return ""
    if label.lower() in SPEAKERS or leads_in(label.split()):
        return speaker
    return label if len(labels) > 1 else ""


def _introduced(words: Words, names: Names, sentences: Sequence[Sentence]) -> str | None:
    """The name that the speaker gives as their own, as in "My name is Ann"."""
    for sentence in sentences:
        for place in range(sentence.first, sentence.behind - 3):
            if words.lower[place : place + 3] == ["my", "name", "is"] and place not in words.quoted:
                behind = names.runs.get(place + 3)
                if behind is not None and not is_doubted(words, sentence, ENGLISH):
                    return words.piece(place + 3, behind)
    return None


def _facts(reading: Reading) -> list[FoundFact]:
    """The facts of one sentence, in their order."""
    words, sentence = reading.words, reading.sentence
    facts: list[FoundFact] = []
    place = sentence.first
    while place < sentence.behind:
        word = words.lower[place]
        following = place + 1
        for phrase in PHRASES.get(word, ()):
            behind = place + len(phrase.words)
            if tuple(words.lower[place:behind]) == phrase.words and behind <= sentence.behind:
                found = _said(reading, phrase, place, behind)
                if found:
                    facts += found
                    following = behind
                    break
        for language in BELONGINGS.get(word, ()):
            facts += _belonging(reading, language, place)
        place = following
    return facts


def _said(reading: Reading, phrase: Phrase, place: int, behind: int) -> list[FoundFact]:
    """The facts that a phrase at a place states."""
    words, sentence, language = reading.words, reading.sentence, phrase.language
    if reading.doubted(language):
        return []
    subjects = subjects_of(words, reading.names, sentence, phrase, place, reading.before)
    if not subjects or not reading.may_say(subjects, place, language):
        return []
    parts = list(_parts(reading, phrase, behind))
    if parts and not NEGATIONS.isdisjoint(words.lower[parts[-1][1].behind : sentence.behind][:1]):
        return []
    if parts:
        reading.before.append((parts[-1][1].behind, subjects[-1]))
    rule = " ".join(phrase.words)
    made = [
        _fact(reading, rule, relation, subject, part)
        for subject in subjects
        for relation, part in parts
        if not reading.ended(language, relation, subject, part)
    ]
    return [fact for fact in made if fact is not None]


def _belonging(reading: Reading, language: Language, place: int) -> list[FoundFact]:
    """The facts that a word at a place tells of whom it belongs to."""
    if reading.doubted(language):
        return []
    found = belonging_at(reading.words, reading.names, reading.sentence, language, place)
    made = [
        _fact(reading, one.rule, one.relation, one.subject, one.part)
        for one in found
        if reading.may_say([one.subject], place, language)
        and not reading.ended(language, one.relation, one.subject, one.part)
    ]
    return [fact for fact in made if fact is not None]


def _parts(reading: Reading, phrase: Phrase, place: int) -> Iterator[tuple[Relation, Part]]:
    """What a phrase says, each with the relation it is said in: the place left and the one reached are two."""
    words, names, sentence, relation = reading.words, reading.names, reading.sentence, phrase.relation
    part = object_of(words, names, sentence, phrase.language, relation, place)
    if part is None:
        return
    if relation.tense == "began" and words.lower[part.behind : part.behind + 1] in (["when"], ["as"], ["for"]):
        # "When I was five", "as a child", "for a year": it may well have ended since.
        return
    if relation.destination is not None:
        yield from _moved(reading, phrase, part)
        return
    if not _lasts(words, relation, part):
        return
    yield relation, part
    if relation.predicate not in MULTIPLE:
        return
    behind = part.behind
    while behind + 1 < sentence.behind and words.lower[behind] in phrase.language.joining | {","}:
        start = behind + 2 if words.lower[behind + 1] in phrase.language.joining else behind + 1
        more = object_of(words, names, sentence, phrase.language, relation, start) if start < sentence.behind else None
        if more is None or more.name is None or (more.behind < sentence.behind and _verb_at(words, more.behind)):
            return
        yield relation, more
        behind = more.behind


def _verb_at(words: Words, place: int) -> bool:
    return words.lower[place] in PHRASES


def _lasts(words: Words, relation: Relation, part: Part) -> bool:
    """Whether one of the words that a relation needs behind its object stands there."""
    return not relation.lasting or not relation.lasting.isdisjoint(words.lower[part.behind : part.behind + 1])


def _moved(reading: Reading, phrase: Phrase, left: Part) -> Iterator[tuple[Relation, Part]]:
    """What was left and what was reached, as in "moved from Berlin to Oslo"; nothing where one of them is unclear."""
    relation, words = phrase.relation, reading.words
    reached = relation.destination
    if reached is None or left.behind + 1 >= reading.sentence.behind or words.lower[left.behind] != relation.joint:
        return
    part = object_of(words, reading.names, reading.sentence, phrase.language, reached, left.behind + 1)
    onward = part is not None and words.lower[part.behind : part.behind + 1] == [relation.joint]
    if part is not None and _lasts(words, relation, part) and not (onward and part.behind + 1 in reading.names.runs):
        yield relation, left
        yield reached, part


def _fact(reading: Reading, rule: str, relation: Relation, subject: Subject, part: Part) -> FoundFact | None:
    """The fact that a subject and an object make, unless they are the same."""
    words = reading.words
    object_ = words.piece(part.first, part.behind)
    name = part.name and Name(
        words.piece(*part.name), part.type, words.starts[part.name[0]], words.ends[part.name[1] - 1]
    )
    who = _who(reading, relation, subject)
    if who is not None and name is not None and who.text == name.text:
        return None
    says = relation.says or rule
    if who is not None:
        whole = says if OBJECT in says else f"{{owner}} {says} {{object}}"
        if relation.tense == "now" and _is_news(words, subject, part):
            whole = _as_news(whole)
        told = whole.replace(OWNER, who.text).replace(OBJECT, object_)
    elif says.startswith(OWNERS):
        told = f"{words.words[subject.first]} {says.removeprefix(OWNERS)}".replace(OBJECT, object_)
    else:
        # In "ich bin nach Hamburg gezogen" the verb comes last.
        verb = words.lower[part.behind : part.behind + 1]
        closing = bool(verb) and verb[0] in relation.lasting and verb[0] not in SINCE
        told = words.piece(
            subject.first, part.behind + (closing or words.lower[part.behind : part.behind + 1] == [NOW])
        )
    told = told[0].upper() + told[1:]
    weighty = _is_weighty(words, reading.sentence)
    since, until = _validity(relation, reading)
    return FoundFact(
        content=told if told[-1] == "." else f"{told}.",
        start=words.starts[subject.first],
        end=words.ends[part.behind - 1],
        subject=who,
        predicate=relation.predicate,
        object=object_,
        object_name=name,
        kind=relation.kind,
        confidence=min(relation.confidence, PASSING) if _in_passing(relation, words, part) else relation.confidence,
        importance=max(relation.importance, WEIGHTY_IMPORTANCE) if weighty else relation.importance,
        rule=rule,
        valid_from=since,
        valid_until=until,
    )


def _is_weighty(words: Words, sentence: Sentence) -> bool:
    """Whether somebody says that what the sentence says is important."""
    label = sentence.speaker
    return (label is not None and label.lower() in WEIGHTY) or not WEIGHTY.isdisjoint(
        words.lower[sentence.first : sentence.behind]
    )


def _in_passing(relation: Relation, words: Words, part: Part) -> bool:
    """Whether a taste may be no more than a word on what is just talked of, as in "I love the colours"."""
    return relation.predicate == "likes" and words.lower[part.first] == "the"


def _is_news(words: Words, subject: Subject, part: Part) -> bool:
    """Whether a fact is said to hold now, which tells that it was not so before."""
    return NOW in words.lower[max(subject.first - 1, 0) : part.behind + 1]


def _as_news(whole: str) -> str:
    """How a sentence tells that: "Ann now lives in", "Ann is now married to", "Ann's favourite colour is now"."""
    if " is " in whole:
        return whole.replace(" is ", f" is {NOW} ", 1)
    return whole.replace(f"{OWNER} ", f"{OWNER} {NOW} ", 1)


def _who(reading: Reading, relation: Relation, subject: Subject) -> Name | None:
    """The subject as a name; None for a speaker whom nobody knows."""
    words = reading.words
    start, end = words.starts[subject.first], words.ends[subject.behind - 1]
    if subject.name == SPEAKER:
        return Name(reading.speaker, "PERSON", start, end) if reading.speaker else None
    return Name(subject.name, reading.names.types.get(subject.name) or relation.subject, start, end)


def _validity(relation: Relation, reading: Reading) -> tuple[datetime | None, datetime | None]:
    """Since when, or until when, what a relation says is said to be so."""
    times = reading.times() if relation.tense != "always" else ()
    if len(times) != 1:
        return None, None
    time = times[0]
    past = reading.observed_at is None or time.start is None or time.start <= reading.observed_at
    if relation.tense == "now":
        return (time.start if time.end is None and past else None), None
    if relation.tense == "began":
        return (time.start if past else None), None
    if relation.tense == "over":
        moved = relation.destination is not None
        return None, time.start if moved and past else time.end if time.start is None else None
    return None, None


def _named(words: Words, names: Names, facts: Sequence[FoundFact]) -> tuple[Name, ...]:
    """The names of a text, each once, in their order, with the types that its facts tell as well."""
    types = dict(names.types)
    for fact in facts:
        for name in (fact.subject, fact.object_name):
            if name is not None and name.type is not None:
                types.setdefault(name.text, name.type)
    found: dict[str, Name] = {}
    sure = {name.start for fact in facts for name in (fact.subject, fact.object_name) if name is not None}
    # German writes every noun as a name.
    nouns = language_of(words.lower) == GERMAN.code
    for first, behind in sorted(names.runs.items()):
        start = words.starts[first]
        text = words.piece(first, behind)
        if (first in names.sure and not (nouns and types.get(text) is None)) or start in sure:
            found.setdefault(text, Name(text, types.get(text), start, words.ends[behind - 1]))
    for fact in facts:
        name = fact.object_name
        if name is not None and name.type is not None:
            found.setdefault(name.text, name)
    return tuple(sorted(found.values(), key=lambda name: name.start))
