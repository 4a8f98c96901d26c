"""A text as tokens of time: numbers, years, dates in figures, and the words of the lexicon."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType

from ebbtide.read.calendar_words import LONGEST_PHRASE, Lexicon, fold_word, language_of, lexicon
from ebbtide.read.cjk_time import CJK, cjk_kinds
from ebbtide.read.windows import Days, day_days, month_days
from ebbtide.text import UNSPACED

__all__ = ["Token", "may_hold_time", "tokens_of"]

YEAR = r"(?:19|20)\d\d"
FIGURES = re.compile(
    rf"""
      (?P<iso_year>{YEAR})(?P<iso_mark>[-/.])(?P<iso_month>\d{{1,2}})(?:(?P=iso_mark)(?P<iso_day>\d{{1,2}}))?(?![\d%])
        (?:T[\d:.]{{2,15}}(?:Z|[+-]\d\d:?\d\d)?)?
        (?:/(?P<to>{YEAR}-\d\d(?:-\d\d)?|\d\d(?:-\d\d)?)(?![\d/-]))?
    | (?P<week_year>{YEAR})-?W(?P<week>\d\d)(?!\d)
    | (?P<one>\d{{1,2}})(?P<mark>[-/.])(?P<two>\d{{1,2}})(?P=mark)(?P<dmy_year>{YEAR})(?!\d)
    | (?P<my_month>0?[1-9]|1[0-2])/(?P<my_year>{YEAR})(?!\d)
    | (?P<decade>(?:19|20)?\d0)['’]?s\b
    | [Qq](?P<quarter>[1-4])\b(?:[ /-]?(?P<quarter_year>{YEAR})\b)?
    | (?P<year_quarter>{YEAR})[ -]?[Qq](?P<quarter_of>[1-4])\b
    | (?P<large>\d{{1,3}}(?:[,.'’]\d{{3}})+(?!\d)|\d+\.\d+|\d+,\d{{1,2}}(?!\d))
    | (?P<ordinal>\d{{1,2}})(?:st|nd|rd|th|er|ste|de|e|º|ª|°)(?!\w)
    | (?P<number>\d+)(?P<percent>[ ]?%)?
    | (?P<word>[^\W\d_]+)
    | (?P<sign>[^\w\s])
    """,
    re.VERBOSE,
)
WORDS = re.compile(r"[^\W\d_]+")
# "Un an" and "l'an" are years; "an" alone is mostly an article.
TELLING = re.compile(r"\d|\b(?:un |l['’])an\b")
# What stands between the words of a phrase.
JOINT = re.compile(r"[ '’\-]{1,2}\Z")
APOSTROPHES = "'’"
LARGEST_COUNT = 99_999
SIGNS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {sign: MappingProxyType({"to": 0, "dash": 0}) for sign in "-–—~～〜"}
    | {"…": MappingProxyType({"to": 0})}
    | {
        ",": MappingProxyType({"comma": 0}),
        ".": MappingProxyType({"full_stop": 0}),
        "、": MappingProxyType({"comma": 0}),
    }
)
NO_KINDS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: the kinds of thing it may be, each with its value, and where it stands.

    `days` are the days of a date in figures; `weak` marks a word that is also another one.
    """

    kinds: Mapping[str, int]
    start: int
    end: int
    capital: bool = False
    weak: bool = False
    days: Days | None = None


def may_hold_time(text: str) -> bool:
    """Whether a text holds a figure or any word of time; a cheap look that most texts do not pass."""
    if TELLING.search(text) is not None:
        return True
    known = lexicon().telling
    if text.isascii():
        return not known.isdisjoint(WORDS.findall(text.lower()))
    if not known.isdisjoint(WORDS.findall(fold_word(text))):
        return True
    return UNSPACED.search(text) is not None and CJK.search(text) is not None


def tokens_of(text: str) -> tuple[str, list[Token], str]:
    """The text with its accents composed, its tokens in order, and the language that decided between meanings."""
    text = unicodedata.normalize("NFC", text)
    pieces: list[Token | re.Match[str]] = []
    place = 0
    for found in CJK.finditer(text) if not text.isascii() else ():
        pieces += FIGURES.finditer(text, place, found.start())
        pieces += [Token(kinds, found.start(), found.end()) for kinds in cjk_kinds(found)]
        place = found.end()
    pieces += FIGURES.finditer(text, place)
    folded = [fold_word(piece["word"]) if isinstance(piece, re.Match) and piece["word"] else None for piece in pieces]
    language = language_of([word for word in folded if word is not None])
    return text, list(_read(text, pieces, folded, lexicon(), language)), language


def _read(
    text: str, pieces: list[Token | re.Match[str]], folded: list[str | None], known: Lexicon, language: str
) -> Iterator[Token]:
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        if isinstance(piece, Token):
            yield piece
            place += 1
        elif piece["sign"] and piece["sign"] in APOSTROPHES:
            place += 1
        elif folded[place] is None:
            yield _figure(piece)
            place += 1
        else:
            token, place = _word(text, pieces, folded, place, known, language)
            yield token


def _word(
    text: str,
    pieces: list[Token | re.Match[str]],
    folded: list[str | None],
    place: int,
    known: Lexicon,
    language: str,
) -> tuple[Token, int]:
    """The longest phrase of the lexicon that begins here, else the word alone; and the place behind it."""
    first = pieces[place]
    start = first.start if isinstance(first, Token) else first.start()
    words: list[str] = []
    best: tuple[Token, int] | None = None
    end = start
    for following in range(place, len(pieces) if folded[place] in known.starts else place + 1):
        piece, word = pieces[following], folded[following]
        if isinstance(piece, Token):
            break
        if word is None:
            # An apostrophe or a hyphen may stand within a phrase.
            if piece["sign"] and piece["sign"] in APOSTROPHES + "-":
                continue
            break
        if words and not (text[end : piece.start()] == " " or JOINT.match(text[end : piece.start()])):
            break
        words.append(word)
        end = piece.end()
        meaning = known.meaning(tuple(words), language)
        if meaning is not None:
            best = Token(meaning.kinds, start, end, text[start].isupper(), meaning.weak), following + 1
        if len(words) == LONGEST_PHRASE:
            break
    if best is not None:
        return best
    alone = pieces[place]
    return Token({"word": 0}, start, alone.end if isinstance(alone, Token) else alone.end()), place + 1


def _figure(found: re.Match[str]) -> Token:
    """The token of figures or of a sign."""
    kinds: Mapping[str, int] = NO_KINDS
    days: Days | None = None
    if found["sign"]:
        kinds = SIGNS.get(found["sign"], NO_KINDS)
    elif found["ordinal"]:
        kinds = {"ordinal": int(found["ordinal"]), "day_number": int(found["ordinal"])}
    elif found["number"]:
        kinds = _number(found)
    elif found["quarter"] and not found["quarter_year"]:
        kinds = {"quarter": int(found["quarter"])}
    elif not found["large"]:
        # What is no day of the calendar is no date.
        with suppress(ValueError, OverflowError):
            days = _date(found)
        kinds = {"decade": 0} if found["decade"] else NO_KINDS
    return Token(kinds, found.start(), found.end(), days=days)


def _number(found: re.Match[str]) -> Mapping[str, int]:
    digits = found["number"]
    if len(digits) > len(str(LARGEST_COUNT)) or found["percent"]:
        return NO_KINDS
    value = int(digits)
    kinds = {"number": value}
    if len(digits) <= 2 and 1 <= value <= 31:
        kinds["day_number"] = value
    if len(digits) == 4 and 1900 <= value < 2100:
        kinds["year"] = value
    return kinds


def _date(found: re.Match[str]) -> Days | None:
    """The days that a date in figures stands for; None for none, or where it could be two.

    Raises:
        ValueError: there is no such day.
    """
    if found["iso_year"]:
        return _iso(found)
    if found["week_year"]:
        monday = date.fromisocalendar(int(found["week_year"]), int(found["week"]), 1)
        return Days(monday, monday + timedelta(days=7), "week")
    if found["dmy_year"]:
        return _figured_day(int(found["one"]), int(found["two"]), int(found["dmy_year"]), found["mark"])
    if found["my_year"]:
        return month_days(int(found["my_year"]), int(found["my_month"]))
    if found["decade"]:
        digits = found["decade"]
        # The nineties are the last ones; "the 20s" are those of this century.
        year = int(digits) if len(digits) == 4 else (1900 if int(digits) >= 30 else 2000) + int(digits)
        return Days(date(year, 1, 1), date(year + 10, 1, 1), "year")
    if found["quarter_year"] or found["year_quarter"]:
        year, quarter = (
            int(found["quarter_year"] or found["year_quarter"]),
            int(found["quarter"] or found["quarter_of"]),
        )
        return month_days(year, 3 * quarter - 2, 3)
    return None


def _figured_day(one: int, two: int, year: int, mark: str) -> Days | None:
    """With dots the day comes first; with other marks it is the one that can be no month."""
    if mark == "." or one > 12 or one == two:
        return day_days(date(year, two, one))
    return day_days(date(year, one, two)) if two > 12 else None


def _iso(found: re.Match[str]) -> Days:
    year, month = int(found["iso_year"]), int(found["iso_month"])
    first = month_days(year, month) if found["iso_day"] is None else day_days(date(year, month, int(found["iso_day"])))
    if found["to"] is None:
        return first
    parts = [int(part) for part in found["to"].split("-")]
    # What the end of a range leaves out is as in its beginning.
    whole = [year, month, 0][: (2 if found["iso_day"] is None else 3) - len(parts)] + parts
    last = month_days(*whole) if len(whole) == 2 else day_days(date(*whole))
    if last.until <= first.first:
        raise ValueError("a range that ends before it begins")
    return Days(first.first, last.until, first.precision)
