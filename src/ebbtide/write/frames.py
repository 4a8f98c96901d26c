"""Whether two short statements give one property of one subject two values: "I live in Oslo", "I live in Rome now"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ebbtide.write import thing_words as things
from ebbtide.write.extract.word_list import listed
from ebbtide.write.wording import TEXTS_REMEMBERED
from ebbtide.write.words import DAYS, DAYS_AND_NUMBERS, MULTI_VALUED

__all__ = ["Change", "change_between", "changes_another"]

Change = Literal["same", "alike"]
"""The same property with another value, or what is only likely to be that."""

TOKEN = re.compile(r"[^\s,;!?()\"“”]+")
INNER_END = re.compile(r"[;!?]|[.:]\s+\S|\bbut\b|\bbecause\b")
ANNOUNCED = re.compile(r"^(?:correction|corrected|updated?|edit|change|changed)\s*[:–—-]\s*", re.IGNORECASE)
OPENING = re.compile(r"^(?:actually|as of [\w.]+(?: \d{4})?|from [\w.]+ on(?:wards)?|since [\w.]+),?\s+", re.IGNORECASE)
CLOSING = re.compile(
    r",?\s+(?:as of \S+(?: \d{4})?|from \S+ on(?:wards)?|instead(?: of .+)?|these days|from now on|anymore)\.?$",
    re.IGNORECASE,
)
SAID_NOW = frozenset({"now", "nowadays", "currently", "actually", "recently", "just", "since"})
OWNING = listed("my our your his her their")
DETERMINERS = frozenset({"the", "new", "current", "present"})
# Whoever these are, it need not be the same one twice.
NOBODY = listed(
    """
    a an some someone somebody one many most each every everyone everybody no nobody he she it they this that these
    those there here who what which people few several half both other others another two three four five
    """
)
BEING = frozenset({"is", "are", "am"})
VERBS = (things.VERBS - {"now", "no", "can", "will", "won't"}) | listed(
    """
    am reside resides study report reports drive prefer commute attend attends rent rents sleep sleeps train trains bank
    banks worship subscribe subscribes bill bills weigh weighs earn earns
    """
)
AUXILIARIES = frozenset({"has", "have", "was", "were", "is", "been"})
REACHED = listed(
    """
    moved relocated changed switched raised lowered increased reduced cut extended shortened postponed rescheduled
    delayed upgraded downgraded renamed set updated
    """
)
# Of these there is one at a time, whatever word comes first behind them.
SINGLE_VALUED = listed("drive drives cost costs weigh weighs earn earns")
PLACING = listed("in at to as on for near")
STANDING = listed(
    """
    based married engaged located assigned registered enrolled employed called named stored hosted written owned led
    managed
    """
)
ADJOINING = listed(
    """
    in at to as on for near with when while during by from and or that which who if since after before until per of
    """
)
# Verbs of which there is one place at a time, near or far.
STAYING = listed("live lives reside resides work works study studies report reports belong belongs")
RESIDING = listed("live lives reside resides")
USING = listed("use uses prefer prefers")
# What such nouns are said to be is a value, and not how a thing fares.
PROPERTY_NOUNS = listed(
    """
    name number address email e-mail mail phone title job role position plan version price cost fee rent rate deadline
    hours manager boss owner lead leader head status state code password passphrase pin hint color colour food drink
    band song book film movie size diet language editor currency timezone zone school employer company budget limit
    capacity salary age weight height birthday username handle nickname doctor dentist location venue day date time
    city country team hobby sport
    """
)
PROPERTY_STARTS = listed("favourite favorite preferred default")
MOST_VALUE_WORDS = 6
MOST_CHARACTERS = 200
NEAR_VALUES = 0.7
NEAR_USES = 0.5


@dataclass(frozen=True, slots=True)
class Frame:
    """A statement of one clause: its subject, its verb, and what comes behind, as it is written."""

    subject: tuple[str, ...]
    verb: str
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """What two statements say behind one verb: what both begin and end with, and the values between."""

    lead: Sequence[str]
    values: tuple[Sequence[str], Sequence[str]]
    tail: Sequence[str]

    @property
    def alike(self) -> bool:
        """Whether both values are figures, or names, or things, or neither."""
        return _shape(self.values[0]) == _shape(self.values[1])


def change_between(older: str, newer: str, cosine: float) -> Change | None:
    """Whether a statement says of the same subject, by the same words, another value than an older one does."""
    old, new = frame_of(older), frame_of(newer)
    if old is None or new is None or old.subject != new.subject:
        return None
    if new.verb in REACHED:
        return _reached(old, new, cosine)
    if old.verb != new.verb:
        return None
    between = _difference(old.rest, new.rest)
    if between is None:
        return None
    return _of_being(old, between, cosine) if old.verb in BEING else _of_doing(old, between, cosine)


def _difference(old: Sequence[str], new: Sequence[str]) -> Difference | None:
    """What differs between two ends of statements; None where that is no single value of each."""
    one, other = [word.lower() for word in old], [word.lower() for word in new]
    lead = 0
    while lead < min(len(one), len(other)) and one[lead] == other[lead]:
        lead += 1
    tail = 0
    while tail < min(len(one), len(other)) - lead and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    values = old[lead : len(old) - tail], new[lead : len(new) - tail]
    if not _are_values(*values):
        return None
    return Difference(one[:lead], values, one[len(one) - tail :])


def _are_values(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether what differs are two values, with nothing beside them that differs as well."""
    if not one or not other or max(len(one), len(other)) > MOST_VALUE_WORDS or "not" in (*one, *other):
        return False
    if one[0] != other[0] and not PLACING.isdisjoint((one[0], other[0])):
        return False
    beside = any(word in ADJOINING for words in (one, other) for word in words[1:])
    return not beside or (_is_counted(one) and _is_counted(other))


def _of_being(frame: Frame, between: Difference, cosine: float) -> Change | None:
    """Whether what something is said to be now takes the place of what it was said to be."""
    # A remark on whoever is named ("my doctor is nice now") is no other name.
    if between.alike and _is_property(frame.subject) and not PLACING.intersection(between.lead[:1]):
        return "same"
    near = bool(between.tail) or cosine >= NEAR_VALUES or _is_counted(between.values[0])
    if between.alike and (between.lead[:1] and between.lead[0] in STANDING):
        return "same"
    if between.alike and between.lead and between.lead[0] in PLACING:
        return "same" if near else None
    if between.alike and _is_counted(between.values[0]):
        return "same"
    return "alike" if cosine >= NEAR_VALUES else None


def _of_doing(frame: Frame, between: Difference, cosine: float) -> Change | None:
    """Whether what somebody is said to do now is done no more with what came first."""
    near = bool(between.tail) or cosine >= NEAR_VALUES
    if frame.verb in USING:
        return "same" if near else "alike" if cosine >= NEAR_USES else None
    if frame.verb in MULTI_VALUED or not between.alike:
        return None
    if frame.verb in SINGLE_VALUED:
        return "same"
    if not between.lead or between.lead[0] not in PLACING:
        return None
    counted = _is_counted(between.values[0])
    return "same" if near or counted or frame.verb in STAYING else None


def _reached(old: Frame, new: Frame, cosine: float) -> Change | None:
    """Whether what moved, changed or was switched to something is what an older statement tells the value of."""
    value, before = new.rest[1:], [word.lower() for word in old.rest]
    if new.rest[:1] != ("to",) or not value or len(value) > MOST_VALUE_WORDS:
        return None
    if new.verb in ("moved", "relocated") and (old.verb in RESIDING or before[:2] == ["based", "in"]):
        return "same" if value[0][0].isupper() or before[-1:] == [old.rest[-1]] else None
    if new.verb == "switched":
        if before[-1:] == [value[-1].lower()] and (old.verb in USING or old.verb in BEING):
            return "same"
        return "alike" if old.verb in USING and cosine >= NEAR_USES else None
    if old.verb not in BEING and old.verb not in SINGLE_VALUED:
        return None
    while before and before[0] in PLACING:
        before.pop(0)
    return "same" if _is_property(old.subject) or (_is_counted(before) and _is_counted(value)) else None


def _shape(words: Sequence[str]) -> str:
    if _is_counted(words):
        return "figure"
    return "article" if words[0].lower() in ("a", "an") else "name" if words[0][0].isupper() else "word"


def _is_counted(words: Sequence[str]) -> bool:
    """Whether words are a figure, a day or a time."""
    if not words:
        return False
    first = words[0].lower()
    return first[0].isdigit() or first in DAYS_AND_NUMBERS or first.rstrip("s") in DAYS


def _is_property(subject: Sequence[str]) -> bool:
    """Whether a subject is what somebody or something has one of: "my phone number", "the owner of the service"."""
    head = subject[subject.index("of") - 1] if "of" in subject[1:] else subject[-1]
    return head in PROPERTY_NOUNS or not PROPERTY_STARTS.isdisjoint(subject)


@lru_cache(TEXTS_REMEMBERED)
def frame_of(content: str) -> Frame | None:
    """The frame of a statement; None where it has no verb that is known, no subject, or more than one clause."""
    if len(content) > MOST_CHARACTERS:
        return None
    said = OPENING.sub("", ANNOUNCED.sub("", content.strip().replace("’", "'")))
    said = CLOSING.sub("", said).rstrip(". ").replace("I'm ", "I am ")
    if INNER_END.search(said):
        return None
    raw = [word for token in TOKEN.findall(said) if (word := token.rstrip(".")).lower() not in SAID_NOW]
    words = [word.lower() for word in raw]
    verb = _verb_of(words)
    if verb is None or words[0] in NOBODY:
        return None
    subject = tuple(word for word in words[:verb] if word not in DETERMINERS)
    while words[verb] in AUXILIARIES and verb + 1 < len(words) and words[verb + 1] in REACHED | AUXILIARIES:
        verb += 1
    return Frame(subject, words[verb], tuple(raw[verb + 1 :])) if subject and verb + 1 < len(words) else None


def _verb_of(words: Sequence[str]) -> int | None:
    """The place of a statement's verb: behind "I" the next word, or else the first that is known as one."""
    if words[:1] in (["i"], ["we"]):
        return 1 if len(words) > 1 and words[1].isalpha() else None
    known = VERBS | REACHED
    return next((at for at in range(1, len(words)) if words[at] in known and words[at - 1] not in OWNING), None)


# What a verb of change changes, by the verb: the property's place in `PROPERTIES`, and what else speaks of it.
CHANGED_PROPERTY = {
    **dict.fromkeys(("moved", "relocated"), (0, frozenset({"in", "at", "on", "near"}))),
    **dict.fromkeys(("joined", "quit", "resigned", "retired"), (1, frozenset({"at", "for"}))),
    **dict.fromkeys(("married", "divorced"), (None, listed("married single engaged wife husband spouse"))),
    "renamed": (None, listed("name named called")),
    "switched": (None, listed("use uses using on with drives drive runs run prefers prefer")),
}


def changes_another(older: str, newer: str) -> bool:
    """Whether a text's own verb says which property changed of its subject, and an older one on that is on another."""
    new = frame_of(newer)
    verb = None if new is None else "married" if new.rest[:1] == ("married",) else new.verb
    if new is None or verb not in CHANGED_PROPERTY:
        return False
    place, others = CHANGED_PROPERTY[verb]
    told = {word.strip(".,;:").lower() for word in older.split()}
    known = others if place is None else others | things.PROPERTIES[place]
    names = {word.removesuffix("'s") for word in told}
    reached = {word.lower() for word in new.rest} - ADJOINING
    return names.issuperset(new.subject) and told.isdisjoint(known) and told.isdisjoint(reached)
