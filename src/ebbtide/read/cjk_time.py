"""Words of time in scripts that join words: Chinese, Japanese and Korean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

__all__ = ["CJK", "cjk_kinds"]

NUMERALS = "一二三四五六七八九"
NUMBER = rf"(?:\d{{1,5}}|[{NUMERALS}两兩]?十[{NUMERALS}]?|[{NUMERALS}两兩])"
# What precedes a number that is only the end of a larger one.
LARGER = rf"(?<![\d,.{NUMERALS}两兩十百千万萬億亿兆])"
COUNTED = "[个個ヶケかカヵ箇]"
# In the order of the values of the lexicon's units.
UNITS = (
    "日|天|일",
    f"週間|{COUNTED}?星期|{COUNTED}?礼拜|[週周]|주일|주",
    f"{COUNTED}月|달|개월",
    "年|년",
    "週末|周末|주말",
    "四半期|季度|분기",
    "(?!)",
    f"時間|{COUNTED}?小[时時]|시간",
    "分钟|分鐘|分|분",
)
UNIT = "|".join(UNITS)
RELATIONS = {"last": "上先지난저번", "this": "这這本今이번", "next": "下来來다음"}
DAYS = (
    "一昨日|おととい|前天|그저께",
    "昨日|きのう|昨天|어제",
    "今日|きょう|今天|오늘",
    "明日|あした|明天|내일",
    "明後日|后天|後天|모레",
)
YEARS = {"last": "去年|昨年|작년|지난해", "this": "今年|올해|금년", "next": "来年|來年|明年|내년"}
SEASONS = ("春봄", "夏여름", "秋가을", "冬겨울")
WEEKDAYS = ("月一월", "火二화", "水三수", "木四목", "金五금", "土六토", "日天일")

CJK = re.compile(
    rf"""
      {LARGER}(?P<ago>{NUMBER})[ ]?(?P<ago_unit>{UNIT})[ ]?(?:前|전)
    | (?:過去|过去|最近|ここ|지난|최근)[ ]?(?P<past>{NUMBER})[ ]?(?P<past_unit>{UNIT})(?:間|间|동안)?
    | (?P<year>\d{{4}})[ ]?[年년](?![間间])(?:の|의)?
    | {LARGER}(?P<month>\d{{1,2}}|十[一二]?|[{NUMERALS}])[ ]?[月월](?![間间曜])
    | (?P<day>\d{{1,2}}|{NUMBER})[ ]?[日号號일](?![間间本曜요])
    | (?P<days>{"|".join(DAYS)})
    | (?P<night>昨夜|昨晩|昨晚|어젯밤)
    | (?P<before_last>一昨年|おととし|前年|재작년)(?:の|의)?
    | (?:{"|".join(f"(?P<{name}_year>{words})" for name, words in YEARS.items())})(?:の|의)?
    | (?P<every>毎週|每[周週]|每个?星期|매주)
    | (?P<relation>[上先这這本今下来來])[个個]?
        (?P<relation_unit>[周週]末|[周週]|星期|[礼禮]拜|月(?!曜))(?P<relation_day>[一二三四五六日天](?![共个個直起些样般月]))?の?
    | (?P<korean>지난|저번|이번|다음)[ ]?(?P<korean_unit>주말|주|달|분기|봄|여름|가을|겨울)
    | (?P<season>[春夏秋冬][天季]|(?<=[年の])[春夏秋冬]|(?<=[년해의])[ ]?(?:봄|여름|가을|겨울))
    | (?P<weekday>[月火水木金土日]曜日?|(?<![一每毎两])(?:星期|[礼禮]拜|[周週])[一二三四五六日天](?!月)
        |[월화수목금토일]요일)
    | (?P<since>以降|以[来來]|から|부터)
    | (?P<after>以[后後]|之[后後]|이후)
    | (?P<before>以前|之前|이전)
    | (?P<until>まで|까지)
    | (?P<from>[从從])
    | (?P<to>[到至])
    """,
    re.VERBOSE,
)
# What a match says by its group alone. "から" and "부터" also join the two ends of a range.
PLAIN: Mapping[str, Mapping[str, int]] = {
    "night": {"night": 0},
    "every": {"every": 0},
    "since": {"since_it": 0, "to": 0},
    "after": {"after_it": 0},
    "before": {"before_it": 0},
    "until": {"until_it": 0},
    "from": {"between": 0},
    "to": {"to": 0},
}
# It is a date by itself, whatever stands before it.
SAID: Mapping[str, int] = {"said": 0}


def cjk_kinds(found: re.Match[str]) -> Iterator[Mapping[str, int]]:
    """The kinds of each token that a match of `CJK` makes."""
    group = found.lastgroup or ""
    if group in PLAIN:
        yield PLAIN[group]
    elif found["ago"]:
        yield {"number": _number(found["ago"])}
        yield {"unit": _unit(found["ago_unit"])}
        yield {"ago": 0}
    elif found["past"]:
        yield {"past": 0}
        yield {"number": _number(found["past"])}
        yield {"unit": _unit(found["past_unit"])}
    elif found["before_last"]:
        yield from ({"number": 2}, {"unit": 3}, {"ago": 0})
    elif found["relation"]:
        yield {_relation(found["relation"]): 0}
        yield {"unit": 2 if found["relation_unit"] == "月" else 4 if found["relation_unit"].endswith("末") else 1}
        if found["relation_day"]:
            yield {"weekday": _place(WEEKDAYS, found["relation_day"])}
    elif found["korean"]:
        yield {_relation(found["korean"]): 0}
        seasonal = _place(SEASONS, found["korean_unit"])
        yield {"unit": _unit(found["korean_unit"])} if seasonal < 0 else {"season": seasonal}
    else:
        yield from _dated(found)


def _dated(found: re.Match[str]) -> Iterator[Mapping[str, int]]:
    """The kinds of what names a day, a month, a season or a year."""
    for name in YEARS:
        if found[f"{name}_year"]:
            yield {name: 0}
            yield {"unit": 3}
    if found["year"]:
        yield {"year": int(found["year"]), **SAID}
    elif found["month"]:
        yield {"month": _number(found["month"]), **SAID}
    elif found["day"]:
        yield {"day_number": _number(found["day"])}
    elif found["days"]:
        yield {"day": next(offset for offset, words in enumerate(DAYS, -2) if found["days"] in words.split("|"))}
    elif found["season"]:
        yield {"season": _place(SEASONS, found["season"].strip()[:2].rstrip("天季")), **SAID}
    elif found["weekday"]:
        word = found["weekday"]
        yield {"weekday": _place(WEEKDAYS, word[0] if word[-1] in "曜일" or "曜" in word else word[-1]), **SAID}


def _number(written: str) -> int:
    """A number in figures, or in Chinese numerals up to 99."""
    if written.isdecimal():
        return int(written)
    tens, ten, ones = written.replace("兩", "二").replace("两", "二").rpartition("十")
    digit = NUMERALS.find
    return (10 * (digit(tens) + 1 if tens else 1) if ten else 0) + (digit(ones) + 1 if ones else 0)


def _unit(written: str) -> int:
    return next(value for value, words in enumerate(UNITS) if re.fullmatch(words, written))


def _relation(written: str) -> str:
    return next(relation for relation, words in RELATIONS.items() if written in words)


def _place(words: tuple[str, ...], written: str) -> int:
    """The place of the entry that holds a word; -1 for none."""
    return next((place for place, entry in enumerate(words) if written and written in entry), -1)
