"""The phrases by which the intent of a query is known: English, each counted once however often it occurs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ebbtide.text import month_names
from ebbtide.types.recall import INTENTS

__all__ = ["DECISION_WORDS", "PATTERNS", "Pattern", "count_patterns"]

WORD = re.compile(r"[^\W_]+")
LONGEST_READ = 10_000

MONTHS = " ".join(month_names).lower()
SHORT_MONTHS = "jan feb mar apr jun jul aug sep sept oct nov dec"
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
YEARS = " ".join(str(year) for year in range(1900, 2100))
PERIODS = (
    "days?|nights?|mornings?|afternoons?|evenings?|weekends?|weeks?|fortnight|months?|quarters?|semesters?|years?|"
    "decades?|spring|summer|autumn|fall|winter|christmas|easter|" + "|".join([*WEEKDAYS.split(), *MONTHS.split()])
)
FAMILY = (
    "wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|sisters?|brothers?|siblings?|mother|father|mom|mum|"
    "dad|parents?|sons?|daughters?|child|children|kids?|aunts?|uncles?|cousins?|nieces?|nephews?|grand\\w{3,8}|"
    "friends?|neighbou?rs?|roommates?|flatmates?|boss|managers?|supervisor|mentors?|employer|employees?|"
    "co-?workers?|colleagues?|team-?mates?|clients?|customers?"
)
AUXILIARIES = "is|are|was|were|do|does|did|has|have|had|will|would|can|could|should"
# Where a clause begins, and so where a question word asks rather than connects.
CLAUSE = r"(?:^|[.!?;:,]|\b(?:and|so|but|ok|okay|hi|hello|hey|please))\W{0,3}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A phrase, looked for only where a text holds one of its `words`; without an expression a word is enough."""

    intent: str
    words: frozenset[str]
    expression: re.Pattern[str] | None

    def matches(self, text: str) -> bool:
        """Whether a text in lower case, known to hold one of the words, holds the phrase."""
        return self.expression is None or self.expression.search(text) is not None


# Every repetition in an expression is bounded, so that no text can make one slow.
_SOURCES: Mapping[str, tuple[tuple[str, str | None], ...]] = {
    "decision": (
        ("decide decides decided deciding undecided", None),
        ("decision decisions", None),
        ("choose chooses chose chosen choosing", None),
        ("choice choices", None),
        ("agree agrees agreed agreeing agreement agreements", None),
        ("conclude concludes concluded concluding conclusion conclusions", None),
        ("settle settles settled settling", r"\bsettl(?:e|es|ed|ing) (?:up)?(?:on|for)\b"),
        ("pick picks picked picking", r"\bpick(?:s|ed|ing)?\b(?!(?: \w{1,30}){0,3} up\b)"),
        ("opt opts opted opting", r"\bopt(?:s|ed|ing)? (?:for|to|out|in)\b"),
        ("with", r"\bwe(?: \w{1,30})? (?:go|going|gone|went)(?: ahead)? with\b"),
        ("rule ruled ruling rules", r"\brul(?:e|ed|es|ing) (?:out|against)\b"),
        ("commit commits committed committing", r"\bcommit(?:s|ted|ting)? to\b"),
        ("verdict verdicts consensus", None),
        ("approve approves approved approval reject rejects rejected rejection", None),
        ("mind minds", r"\bma(?:de|ke|king) up (?:my|our|your|his|her|their) minds?\b"),
        ("switch switches switched switching", r"\bswitch(?:es|ed|ing)? (?:to|from|over)\b"),
        ("why", r"\bwhy (?:did|do|are|were|have|had)(?:n['’]?t)? (?:we|the team)\b"),
    ),
    "comparative": (
        ("vs versus", None),
        (
            "difference differences differ differs differed differing different",
            r"\b(?:differences?|differ(?:s|ed|ing)?|different (?:from|than|to))\b",
        ),
        ("compare compares compared comparing comparison comparisons comparable", None),
        (
            "than",
            r"\b(?:(?:more|less) \w{1,30}(?: \w{1,30})?|worse|rather|(?!other\b|rather\b)\w{2,20}er) than\b",
        ),
        ("similar similarity similarities alike", None),
        ("common", r"\bin common\b"),
        (
            "pros tradeoff tradeoffs trade advantage advantages disadvantage disadvantages",
            r"\bpros (?:and|or|&) cons\b|\btrade-?offs?\b|\b(?:dis)?advantages?\b",
        ),
        ("instead opposed", r"\binstead of\b|\bas opposed to\b"),
        ("prefer prefers preferred preferring", r"\bprefer(?:s|red|ring)?(?: \w{1,30}){1,5} (?:to|over)\b"),
        ("or", r"\b(?:better|best|worse|which|prefer|prefers|rather)\b[^.?!]{1,100} or\b"),
        ("over", r"\b(?:cho(?:se|sen|ose|osing)|pick(?:ed|ing)?|favou?r(?:ed)?)(?: \w{1,30}){1,5} over\b"),
    ),
    "relationship": (
        ("work works worked working", r"\bwork(?:s|ed|ing)? (?:at|for|with|under|alongside)\b"),
        ("employed hired", r"\b(?:employed|hired) (?:at|by)\b"),
        ("related relate relates relating", r"\brelat(?:ed|es?|ing) to\b"),
        ("relation relations relationship relationships", None),
        (
            "know knows knew",
            r"\bkn(?:ows|ew)\b(?! (?:about|of|how|what|that|if|whether|where|when|why)\b)"
            r"|\bknow (?:each other|one another)\b"
            r"|\b(?:who|how) (?:do|does|did)(?: \w{1,30}){1,3} know\b(?! (?:about|how|what|that|if|where|when|why)\b)",
        ),
        ("report reports reported reporting", r"\breport(?:s|ed|ing)? (?:in)?to\b"),
        ("who whose", rf"\bwho(?:['’]?s| is| are| was| were|se)\b[^.?!]{{0,80}}\b(?:{FAMILY})\b"),
        (
            "connected connection connections connects linked link links associated affiliated tied belong belongs",
            r"\b(?:connect(?:ed|ions?|s)|link(?:ed|s)?|associated|affiliated|tied|belongs?) (?:to|with|between)\b",
        ),
        (
            "member members owner founder head subsidiary friend friends colleague colleagues employee employees",
            r"\b(?:members?|owner|founder|head|subsidiary|friends?|colleagues?|employees?) (?:of|with)\b",
        ),
        (
            "depend depends depended dependent dependency dependencies",
            r"\bdepend(?:s|ed|ent)? (?:up)?on\b|\bdependenc(?:y|ies)\b",
        ),
        ("responsible charge", r"\bresponsible for\b|\bin charge of\b"),
        (
            "who",
            r"\bwho (?:owns?|manages?|leads?|runs?|founded|employs?|heads?|mentors?|supervises?|introduced)\b",
        ),
        ("married engaged dating divorced", r"\b(?:married|engaged) to\b|\bdating\b|\bdivorced\b"),
    ),
    "temporal": (
        (
            "last past previous next this coming",
            rf"\b(?:last|past|previous|next|this|coming) (?:\w{{1,30}} )?(?:{PERIODS})\b|\blast time\b",
        ),
        (
            f"{MONTHS} {SHORT_MONTHS} {YEARS}",
            rf"\b(?:19|20)\d\d\b|\b(?:{MONTHS.replace(' may', '').replace(' march', '').replace(' ', '|')})\b"
            r"|\b(?:in|during|since|until|till|by|from|of|for|early|mid|late|last|before|after) (?:may|march)\b"
            rf"|\b(?:may|march|{SHORT_MONTHS.replace(' ', '|')})\.? \d",
        ),
        ("yesterday today tonight tomorrow", None),
        (f"{WEEKDAYS} weekend", None),
        (
            "latest newest recent recently lately nowadays currently now days moment far",
            r"\b(?:latest|newest|most recent|recent(?:ly)?|lately|nowadays|currently|now|these days|at the moment|"
            r"so far)\b",
        ),
        ("when", r"\bwhen(?:['’]s| (?:did|do|does|was|were|is|are|has|have|had|will))\b"),
        (
            "long since until date day year month week",
            r"\bhow long\b|\b(?:since|until) when\b|\b(?:what|which) (?:date|day|year|month|week)\b",
        ),
        ("ago", None),
        (
            "timeline chronology chronological chronologically history order",
            r"\btimeline\b|\bchronolog|\bhistory of\b|\bin (?:what|which) order\b",
        ),
    ),
    "exploratory": (
        ("tell told talk", r"\bt(?:ell|old) (?:me|us)(?: \w{1,30}){0,3} about\b|\btalk to (?:me|us) about\b"),
        (
            "know known remember recall learn learned learnt",
            r"\bwhat (?:do|does|did|can|have|has|all)(?: \w{1,30}){1,3} (?:know|known|remember|recall|learn(?:ed|t)?)\b"
            r"|\b(?:know|known|remember) (?:anything |something )?about\b",
        ),
        (
            "everything anything something more all info information details background context thoughts",
            r"\b(?:everything|anything|something|more|all|info|information|details|background|context|thoughts)"
            r"(?: \w{1,30}){0,3} (?:about|on|regarding|concerning)\b",
        ),
        ("overview summary summaries summarize summarise summarized summarised recap rundown", None),
        ("describe description explain", None),
        ("catch bring fill walk", r"\b(?:catch|bring|fill|walk) (?:me|us)(?: \w{1,30}){0,2} (?:up|in|through)\b"),
        ("explore exploring brainstorm brainstorming ideas suggestions inspiration", None),
        ("new happening going", r"\bwhat(?:['’]s| is| has been|s)? (?:new|happening|going on)\b"),
        (
            "talk talked talking discuss discussed chat chatted",
            r"\bwhat (?:have|has|did|do)(?: \w{1,30}){1,4} (?:talk|discuss|chat)(?:ed)?\b",
        ),
        ("list show find", rf"{CLAUSE}(?:list|show|find)(?: me)? (?:all|every|everything|any|the|my|our)\b"),
    ),
    "factual": (
        ("what whats which", rf"{CLAUSE}(?:what|whats|which)\b"),
        ("who whose whom", rf"{CLAUSE}(?:who|whose|whom)\b"),
        ("where wheres", rf"{CLAUSE}wheres?\b"),
        ("how", rf"{CLAUSE}how (?:many|much|old|tall|far|big|large|high|often|fast)\b"),
        (AUXILIARIES.replace("|", " "), rf"{CLAUSE}(?:{AUXILIARIES}) \w"),
    ),
}

PATTERNS: tuple[Pattern, ...] = tuple(
    Pattern(intent, frozenset(words.split()), None if expression is None else re.compile(expression))
    for intent in INTENTS
    for words, expression in _SOURCES[intent]
)
"""Every pattern, those of the more specific intents first."""

DECISION_WORDS: frozenset[str] = frozenset(
    word
    for pattern in PATTERNS
    if pattern.intent == "decision" and pattern.expression is None
    for word in pattern.words
)
"""The words that tell of a decision by themselves."""


def _by_word(patterns: Iterable[Pattern]) -> Mapping[str, tuple[int, ...]]:
    places: dict[str, tuple[int, ...]] = {}
    for place, pattern in enumerate(patterns):
        for word in pattern.words:
            places[word] = (*places.get(word, ()), place)
    return MappingProxyType(places)


_PLACES = _by_word(PATTERNS)


def count_patterns(text: str) -> dict[str, int]:
    """How many patterns of each intent a text matches, none left out that matches any; of a long text, its beginning.

    A pattern is tried only where one of its words occurs, which leaves a handful of them for a usual question.
    """
    lowered = " ".join(text[:LONGEST_READ].lower().split())
    tried = {place for word in WORD.findall(lowered) if word in _PLACES for place in _PLACES[word]}
    counts: dict[str, int] = {}
    for place in tried:
        pattern = PATTERNS[place]
        if pattern.matches(lowered):
            counts[pattern.intent] = counts.get(pattern.intent, 0) + 1
    return counts
