"""Whether the sentence that says something began also says that it ended."""

from __future__ import annotations

from ebbtide.write.extract.clauses import Part, Subject
from ebbtide.write.extract.names import Names
from ebbtide.write.extract.relation import Language, Relation
from ebbtide.write.extract.tokens import Sentence, Words

__all__ = ["is_ended", "part_ways"]

HELPING = frozenset(
    {"got", "get", "was", "were", "is", "are", "been", "be", "both", "soon", "wurde", "wurden", "a", "ont"}
)
TOWARDS = frozenset({"from", "the", "at", "with", "von", "die", "der", "das", "de", "la", "le", "el"})
# Who "stopped smoking" still lives where they moved to.
CALLED_OFF = frozenset({"working", "living", "seeing", "dating"})
STAYING = frozenset({"there", "here", "in", "into", "forward", "ahead"})
LATER = frozenset({"then", "later", "afterwards", "back"})
ONWARD = frozenset({"to", "back", "on", "onto"})


def is_ended(
    words: Words, names: Names, sentence: Sentence, language: Language, relation: Relation, subject: Subject, part: Part
) -> bool:
    """Whether what begins, or lasts, or a bond between two people, is over by what stands behind it in its sentence.

    That is so where a word of an ending follows, such as "divorced" or "left", that is not said of somebody else, nor
    of another object.
    """
    between_people = relation.object == "PERSON"
    if relation.tense == "over" or not (between_people or relation.tense == "began" or relation.lasting):
        return False
    ending = language.splitting if between_people else language.leaving
    own = {words.piece(part.first, part.behind)}
    if part.name is not None:
        own.add(words.piece(*part.name))
    # In "ist nach Berlin gezogen" the verb comes last.
    last = words.lower[part.behind : part.behind + 1]
    start = part.behind + (not language.moving.isdisjoint(last))
    for place in range(start, sentence.behind):
        word = words.lower[place]
        following = words.lower[place + 1] if place + 1 < sentence.behind else ""
        if not between_people and (
            (word in language.moving and following not in STAYING) or (word in LATER and following in ONWARD)
        ):
            if _said_of(words, names, sentence, place, subject, own):
                return True
        elif (
            word in ending
            and (not following.endswith("ing") or following in CALLED_OFF)
            and not _is_of_another(words, names, place + 1, own)
            and _said_of(words, names, sentence, place, subject, own)
        ):
            return True
    return False


def part_ways(words: Words, sentence: Sentence, language: Language) -> bool:
    """Whether a sentence says that two who were named before parted: "They divorced in 2021."."""
    said = words.lower[sentence.first : sentence.behind]
    return said[0] in language.both and not language.splitting.isdisjoint(said)


def _said_of(words: Words, names: Names, sentence: Sentence, place: int, subject: Subject, own: set[str]) -> bool:
    """Whether a verb at a place is not somebody else's: no other name stands before it."""
    last = place - 1
    while last >= sentence.first and words.lower[last] in HELPING:
        last -= 1
    first = names.ends.get(last + 1)
    if first is None or first < sentence.first:
        return True
    return words.piece(first, last + 1) in own | {subject.name}


def _is_of_another(words: Words, names: Names, place: int, own: set[str]) -> bool:
    """Whether a name follows that is not the object's: what is left or divorced is another one."""
    while place < len(words.lower) and words.lower[place] in TOWARDS:
        place += 1
    behind = names.runs.get(place)
    return behind is not None and words.piece(place, behind) not in own
