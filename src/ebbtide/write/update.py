"""Whether a statement is the news of an older one, read from both texts: what changed, and whether of one thing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ebbtide.write import change_words as lists
from ebbtide.write.cues import COMMON, ended_in, given_up_in, may_say_update, read_cues
from ebbtide.write.doubts import in_doubt
from ebbtide.write.frames import change_between, changes_another
from ebbtide.write.topics import alike_by_subject, content_words, label_between, likeness, of_two_things, share_subject
from ebbtide.write.wording import WORD, read_wording
from ebbtide.write.words import NEGATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

__all__ = ["DOUBTFUL", "SURE", "Statement", "Update", "best_fit", "judge", "may_update"]

# Kinds that state what is so. Episodes and messages tell of single events, each true for ever.
STATES = frozenset({"fact", "preference", "howto", "correction", "learning", "note"})
SURE = 0.75
"""The confidence from which on an update replaces; `benchmarks/supersession.py` shows what others would find."""
DOUBTFUL = 0.62
"""The confidence from which on it is a conflict."""
SAME_BUT_FOR_VALUE = 0.9
"""How sure it is that what says now, of the same subject by the same words, another value replaces the first."""
# Words that say nothing new: what is grammar, and that something holds now, or still.
NO_NEWS = COMMON.union(*lists.HOLDS_NOW, *lists.UNCHANGED) - NEGATIONS
# An address is one word, whatever words it is made of.
SAID = re.compile(rf"(?<!\S)[^\s@]{{1,100}}@\S{{0,100}}\w|{WORD.pattern}")
# An update fits what it replaces better than anything else by so much of cosine and shared words together.
LEAD = 0.05
# Texts that share nothing but whom they are about may still say the same of him, if they lie as near as this.
NEAR_BY_SUBJECT = 0.65


@dataclass(frozen=True, slots=True)
class Statement:
    """What is known of a statement besides its vector.

    Attributes:
        at: since when it holds, else when it was observed.
        confirmed: whether a person vouched for it, so that only a person replaces it.
        past: whether it is known to hold no longer, by what it is called or until when it held.
    """

    content: str
    kind: str
    at: datetime | None = None
    speaker: str | None = None
    confirmed: bool = False
    past: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """What a newer statement is to an older one, how sure that is, in [0, 1], and whether only the value is another."""

    kind: Literal["supersedes", "conflict"]
    confidence: float
    same_property: bool = False


def may_update(content: str, kind: str) -> bool:
    """Whether a statement could say that something changed; cheap, and true for more than really do."""
    return kind == "correction" or (kind in STATES and may_say_update(content))


def best_fit(
    newer: Statement, near: Sequence[tuple[Statement, float]], *, sure: float = SURE
) -> tuple[int, Update] | None:
    """Which of the statements near to a newer one it is news of, by its place, and what it is to it.

    Where it fits another nearly as well it is not known which one it replaces, and that is a conflict.
    """
    if not may_update(newer.content, newer.kind):
        return None
    fitting = sorted(
        (
            (update.same_property + cosine + likeness(older.content, newer.content), place, update)
            for place, (older, cosine) in enumerate(near)
            if (update := judge(older, newer, cosine, sure=sure)) is not None
        ),
        key=lambda one: -one[0],
    )
    if not fitting:
        return None
    fit, place, update = fitting[0]
    if len(fitting) > 1 and fit - fitting[1][0] < LEAD:
        update = replace(update, kind="conflict")
    return place, update


def judge(older: Statement, newer: Statement, cosine: float, *, sure: float = SURE) -> Update | None:
    """What a newer statement is to an older one that lies near: its successor, in conflict with it, or nothing.

    Precision comes first: only what says itself that something changed, of the same thing, replaces, from a confidence
    of `sure` on; what is doubtful is a conflict.
    """
    if older.kind not in STATES or newer.kind not in STATES or spoken_by_two(older, newer) or is_talk(older, newer):
        return None
    if older.at is not None and newer.at is not None and newer.at < older.at:
        return None
    cues = read_cues(newer.content)
    # What was once is neither replaced nor disputed by what is so now, nor the other way round.
    if (older.past or read_cues(older.content).past) != cues.past:
        return None
    corrects = newer.kind == "correction"
    changed = 1.0 if corrects else cues.changed
    if changed == 0.0 or ((cues.denied or cues.uncertain) and not corrects) or (cues.added and changed < 1.0):
        return None
    if says_nothing_new(older.content, newer.content):
        return None
    labelled = label_between(older.content, newer.content)
    change = None if cues.added else change_between(older.content, newer.content, cosine)
    if change == "same" and not (older.confirmed or cues.denied or cues.uncertain or cues.partly):
        return Update("supersedes", max(SAME_BUT_FOR_VALUE, confidence_of(changed, cosine, 1.0)), same_property=True)
    if (
        labelled == "subject"
        or of_two_things(older.content, newer.content)
        or ended_elsewhere(older.content, newer.content)
        or changes_another(older.content, newer.content)
    ):
        return None
    alike = likeness(older.content, newer.content)
    if change is None and cosine < NEAR_BY_SUBJECT and alike_by_subject(older.content, newer.content):
        return None
    confidence = max(confidence_of(changed, cosine, alike), 0.0 if change is None else DOUBTFUL)
    if confidence < DOUBTFUL:
        return None
    doubtful = (
        older.confirmed
        or cues.added
        or cues.denied
        or cues.uncertain
        or cues.partly
        or (labelled == "value" and not (changed == 1.0 and share_subject(older.content, newer.content)))
        or in_doubt(older.content, newer.content)
    )
    return Update("conflict" if doubtful or confidence < sure else "supersedes", confidence)


def confidence_of(changed: float, cosine: float, alike: float) -> float:
    """How sure an update is: 0.45 for what it says of itself, 0.35 for nearness, 0.2 for shared words."""
    near = min(max((cosine - 0.4) / 0.4, 0.0), 1.0)
    return 0.45 * changed + 0.35 * near + 0.2 * min(alike / 0.5, 1.0)


def spoken_by_two(older: Statement, newer: Statement) -> bool:
    """Whether two people said them: what each says of himself is about himself."""
    return older.speaker is not None and newer.speaker is not None and older.speaker != newer.speaker


def is_talk(older: Statement, newer: Statement) -> bool:
    """Whether one of them asks or exclaims, as people do who talk: what they say then is seldom meant as a record."""
    return any(mark in text for text in (older.content, newer.content) for mark in "?!？！")


def ended_elsewhere(older: str, newer: str) -> bool:
    """Whether a text says that something is over, and none of it is what the other one says."""
    ended, known = ended_in(newer), content_words(older)
    return bool(ended) and all(known.isdisjoint(one) for one in ended)


def says_nothing_new(older: str, newer: str) -> bool:
    """Whether the words of a text are the other's, in their order: a part of what was said already is no news of it.

    Words such as "now" and "as before" say nothing by themselves, unless one of the texts says what is no more.
    """
    said, news = SAID.findall(older.casefold()), SAID.findall(newer.casefold())
    if is_part(news, said):
        return True
    if any((*ended_in(older), *ended_in(newer), *given_up_in(older), *given_up_in(newer))):
        return False
    same_denials = read_wording(older).negations == read_wording(newer).negations
    return same_denials and is_part([word for word in news if word not in NO_NEWS], said)


def is_part(words: Sequence[str], of: Sequence[str]) -> bool:
    """Whether words are among others in their order."""
    others = iter(of)
    return all(word in others for word in words)
