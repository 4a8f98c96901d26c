"""The sub-queries of a query that asks for several things: a decision, a comparison, or this and that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ebbtide.checks import check_text
from ebbtide.read.patterns import AUXILIARIES, DECISION_WORDS, MONTHS

__all__ = ["decompose"]

MOST_QUERIES = 5
SHORTEST_DECOMPOSED = 15
LONGEST_DECOMPOSED = 500
LONGEST_GIVEN = 100_000
LONGEST_PART_WORDS = 8
LONGEST_LISTED_WORDS = 4


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = _words("the a an my our your his her their its this that these those some any")
# Words that ask or connect, and so begin no thing that is asked about.
LEADING = (
    DETERMINERS
    | _words(AUXILIARIES.replace("|", " "))
    | _words(
        "what whats which who whos whom whose where wheres when why how be been am done shall may might must i we you "
        "they he she it me us them tell show give explain describe please and or so but ok okay well also about of on "
        "in for to with between from at by as if whether that than compare comparing comparison much many know think "
        "remember recall find say said there"
    )
)
LEADING_A_SIDE = LEADING | _words("use using prefer want like need consider choose pick buy get take")
# A query that holds nothing but these beside the things it names asks for those alone.
GENERIC = LEADING | _words("everything anything something all more information info details overview")

AGAINST = re.compile(r"\s+(?:vs\.?|versus)\s+", re.IGNORECASE)
# In each, the two things compared; their edges are cleaned afterwards.
COMPARED = tuple(
    re.compile(expression, re.IGNORECASE)
    for expression in (
        r"\b(?:differences?|similarit(?:y|ies)|compar(?:e|ing|isons?)|choice|choose|decide)\b.{0,40}?"
        r"\bbetween (.+)\band (.+)$",
        r"\bcompar(?:e|ing|isons? of) (.+?) (?:and|with|to|against) (.+)$",
        r"^(.+?) (?:compares?|compared|differs?|different|stacks? up|measures? up) (?:to|with|against|from|than) (.+)$",
        r"^(.+?) and (.+?) (?:compare|differ)\b.*$",
        r"^(.+?)(?: (?:is|are|was|were))? (?:(?:any|much|far|a lot) )?"
        r"(?:(?:more|less) \w+|better|worse|(?!other\b|rather\b)\w{2,20}er)(?: \w+)? than (.+)$",
        r"\b(?:choos(?:e|ing)|chose|chosen|pick(?:ed)?|prefer(?:s|red)?|favou?r(?:ed)?|select(?:ed)?|use[ds]?|take|took|"
        r"go with|went with) (.+?) (?:over|instead of|rather than) (.+)$",
        r"\bprefer(?:s|red)? (.+?) to (.+)$",
        r"^(.+?) (?:instead of|rather than|as opposed to) (.+)$",
        r"\b(?:which|what|who)\b.{0,80}?[,:;] (.+?),? or (.+)$",
        r"\b(?:better|choose|chose|pick|prefers?|use|buy|go with|between) (.+?),? or (.+)$",
    )
)
# Where the thing ends and the circumstances begin; of a decision, "for" still says what it is about.
TAIL = re.compile(
    r"(?:\s*[,;:?!]|\.(?=\s|$)|\s+(?:in terms of|when|if|because|regarding|concerning|with (?:regards?|respect) to|"
    r"according to|during|since|yesterday|today|last|this|please|back in|"
    rf"in (?:(?:19|20)\d\d|{MONTHS.replace(' ', '|')}))\b).*$",
    re.IGNORECASE,
)
PURPOSE = re.compile(r"\s+for\b.*$", re.IGNORECASE)
DECIDED = re.compile(
    rf"\b(?:{'|'.join(sorted(DECISION_WORDS))}|settled? (?:up)?on|opted|went with|picked)\b", re.IGNORECASE
)
TOPIC = re.compile(r"\b(?:about|regarding|concerning|as to)\s+(.+)$", re.IGNORECASE)
# What stands between a decision and what it is about.
CONNECTING = _words(
    "to do on upon for with from in over that against of around was were is are be been it we i you they he she made "
    "make reached reach taken take came come by did have has had between up the team finally us them"
)
BEFORE_AUXILIARY = re.compile(rf"^(.+?)\s+(?:{AUXILIARIES})\b.*$", re.IGNORECASE)
TWO_QUESTIONS = re.compile(
    rf"^(.{{8,}}?),? and ((?:(?:with|to|for|in|at|on|from|by|since) )?(?:what|which|who|whose|whom|where|when|why|how|"
    rf"{AUXILIARIES})\b.{{6,}})$",
    re.IGNORECASE,
)
LISTED = re.compile(
    r"^(?P<before>.*\b(?:about|regarding|concerning|on|of|for|with|between|likes?|loves?|knows?|to) |)"
    r"(?P<list>.+ (?:and|&) .+)$",
    re.IGNORECASE,
)
JOINT = re.compile(r",? (?:and|&) |, ", re.IGNORECASE)
BETWEEN = re.compile(r"\bbetween\s*$", re.IGNORECASE)
# Two words that are one thing.
FIXED = frozenset(
    tuple(pair.split("+"))
    for pair in _words(
        "rock+roll salt+pepper bread+butter mac+cheese fish+chips bed+breakfast terms+conditions trial+error "
        "arts+crafts research+development supply+demand black+white drag+drop copy+paste back+forth ups+downs "
        "up+down on+off in+out here+there now+then pros+cons dos+donts safe+sound peace+quiet sick+tired "
        "first+foremost law+order nuts+bolts rise+fall hit+run track+field health+safety mergers+acquisitions "
        "profit+loss question+answer questions+answers q+a r+d p+l cause+effect plug+play wear+tear washer+dryer "
        "lost+found hide+seek jelly+butter butter+jelly aches+pains odds+ends knife+fork hot+cold day+night "
        "night+day time+money life+death food+drink cut+dry"
    )
)


def decompose(text: str) -> list[str]:
    """The queries to search for in place of one: the query itself first, then at most four for the things it asks.

    A decision is also sought as a decision, choice and conclusion; a comparison as either side and as a comparison;
    "X and Y" as X and as Y, with what is asked of them. Any other query, one of fewer than 15 characters, and one of
    more than 500 gives itself alone. The phrases are English. Source: Eryx 4.1 and 4.2.

    Raises:
        InvalidInput: `text` is no text that can be stored, or longer than 100,000 characters.
    """
    check_text(text, "text", LONGEST_GIVEN)
    asked = " ".join(text.split())
    if not SHORTEST_DECOMPOSED <= len(asked) <= LONGEST_DECOMPOSED:
        return [text]
    queries = {asked.casefold(): text}
    for part in parts_of(asked.rstrip(" ?!.…")):
        queries.setdefault(part.casefold(), part)
    return list(queries.values())[:MOST_QUERIES]


def parts_of(query: str) -> list[str]:
    """What a query without its final punctuation asks for, one query each; nothing for a plain one."""
    decided = DECIDED.search(query)
    compared = compared_in(query)
    if compared:
        return [*compared, f"{' vs '.join(compared)} {'decision' if decided else 'comparison'}"]
    topic = decided_in(query, decided) if decided else ""
    if topic:
        return [f"{topic} {noun}" for noun in ("decision", "choice", "conclusion")]
    return listed_in(query)


def compared_in(query: str) -> list[str]:
    """The two to four things that a query compares, in its order; nothing where it compares none."""
    sides = AGAINST.split(query)
    if len(sides) == 1:
        sides = next((found.groups() for expression in COMPARED if (found := expression.search(query))), ())
    if not 2 <= len(sides) < MOST_QUERIES:
        return []
    things = [thing_of(side) for side in sides]
    return things if all(things) and len({thing.casefold() for thing in things}) == len(things) else []


def thing_of(side: str) -> str:
    """What one side of a comparison names; empty where that is nothing, or a whole clause."""
    about = TOPIC.search(side)
    words = PURPOSE.sub("", TAIL.sub("", without_lead(about[1] if about else side, LEADING_A_SIDE))).split()
    return " ".join(words).strip("\"'“”‘’`()") if len(words) <= LONGEST_PART_WORDS else ""


def bare(word: str) -> str:
    """A word as the lists above have it."""
    return word.casefold().strip(",.;:!?\"'“”‘’`()").replace("’", "'").removesuffix("'s").replace("'", "")


def without_lead(phrase: str, leading: frozenset[str] = LEADING) -> str:
    """A phrase from its first word on that neither asks nor connects."""
    words = phrase.split()
    while words and bare(words[0]) in leading:
        del words[0]
    return " ".join(words)


def decided_in(query: str, decided: re.Match[str]) -> str:
    """What a decision is about, led by the names of who took it; empty where the query does not say."""
    before, after = query[: decided.start()].strip(), query[decided.end() :]
    about = TOPIC.search(after)
    words = (about[1] if about else after).split()
    while words and bare(words[0]) in CONNECTING | DETERMINERS:
        del words[0]
    topic = TAIL.sub("", " ".join(words))
    if not topic:
        asked = BEFORE_AUXILIARY.sub(r"\1", without_lead(before))
        topic = "" if bare(asked.split()[-1] if asked else "") in LEADING else asked
    topic = " ".join(topic.split()).strip("\"'“”‘’`()")
    if not topic or len(topic.split()) > LONGEST_PART_WORDS:
        return ""
    named = names_before(before.split())
    return topic if not named or topic.startswith(named) else f"{named} {topic}"


def is_name(word: str) -> bool:
    """Whether a word is written as a name is, or as the number in one."""
    plain = word.strip("\"'“”‘’`(")
    return bool(plain) and (plain[0].isupper() or plain[0].isdigit()) and bare(word) not in LEADING


def names_before(words: Sequence[str]) -> str:
    """The names that a phrase ends in, as it joins them."""
    start = len(words)
    while start and (is_name(words[start - 1]) or (start < len(words) and words[start - 1].casefold() == "and")):
        start -= 1
    return " ".join(words[start + 1 :] if start < len(words) and words[start].casefold() == "and" else words[start:])


def listed_in(query: str) -> list[str]:
    """A query for each of the things that "and" joins; nothing where it joins no two things."""
    twice = TWO_QUESTIONS.match(query)
    if twice:
        return [twice[1], twice[2]]
    for before, items, after in joined_in(query):
        if len(set(items)) < len(items) or any(is_fixed(one, other) for one, other in pairwise(items)):
            continue
        rest = [word for word in f"{before} {after}".split() if bare(word) not in GENERIC]
        if not rest or BETWEEN.search(before):
            return [" ".join(without_lead(item).split()).removesuffix("'s").removesuffix("’s") for item in items]
        return [" ".join(f"{before} {item} {after}".split()) for item in items]
    return []


def is_fixed(one: str, other: str) -> bool:
    """Whether "one and other" is a phrase of its own, such as "rock and roll" or "more and more"."""
    pair = bare(one.split()[-1]), bare(without_lead(other).split()[0] if without_lead(other) else other)
    return pair in FIXED or pair[0] == pair[1]


def joined_in(query: str) -> Iterator[tuple[str, list[str], str]]:
    """The lists in a query: what precedes one, its items, what follows it."""
    words = query.split()
    for place, word in enumerate(words):
        if word.casefold() in ("and", "&"):
            named = names_around(words, place)
            if named is not None:
                yield named
    listed = LISTED.match(query)
    if listed:
        items = [item for item in JOINT.split(listed["list"]) if item]
        if len(items) > 1 and all(is_thing(item) for item in items):
            yield listed["before"], items, ""


def names_around(words: Sequence[str], place: int) -> tuple[str, list[str], str] | None:
    """The names on both sides of the "and" at `place`, and of the commas before it; None where one side has none."""
    start, end = place, place + 1
    while start and is_name(words[start - 1]):
        start -= 1
    while end < len(words) and is_name(words[end]):
        end += 1
        if words[end - 1][-1] in ",;:.!?":
            break
    if start == place or end == place + 1:
        return None
    before = [item for item in re.split(r",\s*", " ".join(words[start:place])) if item]
    items = [*before, " ".join(words[place + 1 : end]).rstrip(",;:.!?")]
    return " ".join(words[:start]), items, " ".join(words[end:])


def is_thing(item: str) -> bool:
    """Whether an item of a list can be a thing: a few words that neither ask nor connect, after its article."""
    words = item.split()
    while words and bare(words[0]) in DETERMINERS:
        del words[0]
    return 0 < len(words) <= LONGEST_LISTED_WORDS and not any(bare(word) in LEADING for word in words)
