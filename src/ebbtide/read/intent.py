"""What a query wants: its intent, known by phrases, and by a chat model where one is set."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from ebbtide.checks import check_text
from ebbtide.errors import InvalidInput, ModelError
from ebbtide.rank.strategies import STRATEGIES
from ebbtide.read.patterns import count_patterns
from ebbtide.text import shown
from ebbtide.types.recall import INTENTS, Intent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ebbtide.engine import Engine
    from ebbtide.rank.profile import Profile
    from ebbtide.read.question import Question
    from ebbtide.types.memory import Kind

__all__ = ["AUTOMATIC", "Classification", "Purpose", "check_intent", "classify", "kinds_of", "read_intent"]

log = logging.getLogger("ebbtide")

LONGEST_CLASSIFIED = 100_000
FIRST_MATCH, EACH_MATCH, MOST_CONFIDENT = 0.4, 0.15, 0.9
AUTOMATIC = "auto"


class Classification(NamedTuple):
    """The intent of a query, one of six, and how sure that is: 0 where nothing tells, else above 0.4 up to 0.9."""

    intent: Intent
    confidence: float


def classify(text: str) -> Classification:
    """The intent of a query: decision, comparative, relationship, temporal, exploratory or factual.

    Phrases are counted for each intent; the one with the most wins, and of several the one that stands first above.
    The confidence is `min(0.9, 0.4 + 0.15 · matches)`; without a match the answer is `("factual", 0.0)`. The phrases
    are English. Source: Eryx 3.2.

    Raises:
        InvalidInput: `text` is no text that can be stored, or longer than 100,000 characters.
    """
    return classify_asked(check_text(text, "text", LONGEST_CLASSIFIED))


def classify_asked(text: str) -> Classification:
    """The same for a text that was checked already."""
    counts = count_patterns(text)
    if not counts:
        return Classification("factual", 0.0)
    intent = max(INTENTS, key=lambda name: counts.get(name, 0))
    return Classification(intent, min(MOST_CONFIDENT, FIRST_MATCH + EACH_MATCH * counts[intent]))


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a query wants, and how that came to be known.

    Attributes:
        intent, confidence, by: as a trace shows them.
        strategy: the name of the profile that ranks, None where the intent does not decide that.
        notes: what the caller should know.
    """

    intent: Intent
    confidence: float
    by: Literal["caller", "patterns", "model"]
    strategy: str | None = None
    notes: tuple[str, ...] = ()


def check_intent(intent: Any) -> str | None:
    """The intent that a caller asks for: one of six, `auto` to have it found, or None.

    Raises:
        InvalidInput: it is none of these.
    """
    if intent is None or (isinstance(intent, str) and (intent in INTENTS or intent == AUTOMATIC)):
        return intent
    raise InvalidInput(
        f"There is no intent {shown(intent)}.",
        field="intent",
        remedy=f"Use {', '.join(INTENTS)}, or {AUTOMATIC} to have it found.",
    )


async def read_intent(engine: Engine, tenant: str, question: Question, asked: str | None, *, ranks: bool) -> Purpose:
    """What a question wants: what the caller says, else what its phrases say, else what the model says.

    The model is asked only where that changes the ranking: `ranks` says that no profile was named. Whatever goes wrong
    with its answer leaves the query factual, and never costs the recall.
    """
    if asked is not None and asked != AUTOMATIC:
        said = cast("Intent", asked)
        return Purpose(said, 1.0, "caller", said if ranks else None)
    found = classify_asked(question.asked)
    if asked is None or not ranks:
        return Purpose(found.intent, found.confidence, "patterns")
    if found.confidence > 0 or engine.intent_model is None:
        return Purpose(found.intent, found.confidence, "patterns", found.intent)
    known = engine.intents.get(tenant, question.asked)
    if known is None:
        try:
            known = await engine.intent_model.intent(question.asked)
        except ModelError as error:
            log.warning("a query's intent was not found and it is taken as factual: %s", error)
            note = f"the intent is taken as factual: {error.message}"
            return Purpose(found.intent, found.confidence, "patterns", found.intent, (note,))
        engine.intents.put(tenant, question.asked, known)
    return Purpose(known, FIRST_MATCH, "model", known)


def kinds_of(purpose: Purpose, profile: Profile, beside: Mapping[Intent, Sequence[Kind]]) -> tuple[Kind, ...] | None:
    """The kinds that are searched where the caller names none: the profile's, None for all.

    Where the intent decides on the ranking, so are those `beside` it, unless the tenant's own strategy has others.
    """
    if purpose.strategy is None or profile.kinds is None or profile.kinds != STRATEGIES[purpose.strategy].kinds:
        return profile.kinds
    return tuple(dict.fromkeys((*profile.kinds, *beside.get(purpose.intent, ()))))
