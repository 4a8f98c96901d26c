"""When a query asks about: in twelve languages, in any zone, said or guessed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from ebbtide.read.moments import asked_window

# A Thursday; in Tokyo it is Thursday evening.
NOW = datetime(2026, 3, 12, 9, 30, tzinfo=UTC)

Stretch = tuple[str | None, str | None]


def day(text: str) -> Stretch:
    return text, (date.fromisoformat(text) + timedelta(1)).isoformat()


YESTERDAY, TODAY = day("2026-03-11"), day("2026-03-12")
LAST_WEEK, LAST_MONTH, LAST_YEAR = (
    ("2026-03-02", "2026-03-09"),
    ("2026-02-01", "2026-03-01"),
    ("2025-01-01", "2026-01-01"),
)
MARCH_2024, AUGUST_2024 = ("2024-03-01", "2024-04-01"), ("2024-08-01", "2024-09-01")
THREE_DAYS_AGO, THE_18TH = day("2026-03-09"), day("2024-03-18")

PHRASES: list[tuple[str, list[Stretch]]] = [
    # Days.
    ("what did we do yesterday", [YESTERDAY]),
    ("Yesterday's decisions", [YESTERDAY]),
    ("the day before yesterday", [day("2026-03-10")]),
    ("What is planned for today?", [TODAY]),
    ("tomorrow", [day("2026-03-13")]),
    ("the day after tomorrow", [day("2026-03-14")]),
    ("three days ago", [THREE_DAYS_AGO]),
    ("1 day ago", [YESTERDAY]),
    ("a couple of days ago", [("2026-03-09", "2026-03-11")]),
    ("a few days ago", [("2026-03-07", "2026-03-11")]),
    ("What was said on Monday?", [day("2026-03-09")]),
    ("on Thursday", [TODAY]),
    ("last Thursday", [day("2026-03-05")]),
    ("last Monday", [day("2026-03-09")]),
    ("this Friday", [day("2026-03-13")]),
    ("next Friday", [day("2026-03-13")]),
    ("next Thursday", [day("2026-03-19")]),
    ("on Monday last week", [day("2026-03-02")]),
    ("since Monday", [("2026-03-09", None)]),
    # Weeks, weekends, months, years.
    ("what happened last week", [LAST_WEEK]),
    ("this week", [("2026-03-09", "2026-03-16")]),
    ("next week", [("2026-03-16", "2026-03-23")]),
    ("a week ago", [LAST_WEEK]),
    ("two weeks ago", [("2026-02-23", "2026-03-02")]),
    ("last weekend", [("2026-03-07", "2026-03-09")]),
    ("this weekend", [("2026-03-14", "2026-03-16")]),
    ("last month", [LAST_MONTH]),
    ("this month", [("2026-03-01", "2026-04-01")]),
    ("3 months ago", [("2025-12-01", "2026-01-01")]),
    ("at the end of last month", [("2026-02-19", "2026-03-01")]),
    ("last year", [LAST_YEAR]),
    ("two years ago", [("2024-01-01", "2025-01-01")]),
    ("last quarter", [("2025-10-01", "2026-01-01")]),
    ("over the past 3 months", [("2025-12-12", "2026-03-13")]),
    ("in the last 10 days", [("2026-03-02", "2026-03-13")]),
    ("the past week", [("2026-03-05", "2026-03-13")]),
    ("in the past year", [("2025-03-12", "2026-03-13")]),
    ("the next two weeks", [("2026-03-12", "2026-03-27")]),
    # Named days and months.
    ("in July", [("2025-07-01", "2025-08-01")]),
    ("in March", [("2026-03-01", "2026-04-01")]),
    ("What happened in May 2023?", [("2023-05-01", "2023-06-01")]),
    ("on March 18", [day("2025-03-18")]),
    ("18 March", [day("2025-03-18")]),
    ("on the 18th of March, 2024", [THE_18TH]),
    ("March 18th, 2024", [THE_18TH]),
    ("on 1 February, 2023", [day("2023-02-01")]),
    ("on December 1,2023", [day("2023-12-01")]),
    ("Monday, March 18, 2024", [THE_18TH]),
    ("on the 5th", [day("2026-03-05")]),
    ("on the 18th.", [day("2026-02-18")]),
    ("in early March 2024", [("2024-03-01", "2024-03-11")]),
    ("in mid-July", [("2025-07-11", "2025-07-21")]),
    ("by the end of May 2024", [(None, "2024-06-01")]),
    ("the first week of May 2024", [("2024-05-01", "2024-05-08")]),
    ("in the second week of November", [("2025-11-08", "2025-11-15")]),
    ("the last week of July", [("2025-07-25", "2025-08-01")]),
    ("the first half of September 2022", [("2022-09-01", "2022-09-16")]),
    ("in November last year", [("2025-11-01", "2025-12-01")]),
    ("last year in May", [("2025-05-01", "2025-06-01")]),
    ("last March", [("2025-03-01", "2025-04-01")]),
    ("this March", [("2026-03-01", "2026-04-01")]),
    ("next March", [("2027-03-01", "2027-04-01")]),
    ("in March and June 2024", [("2026-03-01", "2026-04-01"), ("2024-06-01", "2024-07-01")]),
    ("On February 29", [day("2024-02-29")]),
    ("Christmas 2024", [("2024-12-24", "2024-12-27")]),
    ("before Christmas", [(None, "2025-12-24")]),
    # Seasons, quarters, years, decades.
    ("in summer 2024", [("2024-06-01", "2024-09-01")]),
    ("in the winter of 2024", [("2024-12-01", "2025-03-01")]),
    ("last spring", [("2025-03-01", "2025-06-01")]),
    ("this spring", [("2026-03-01", "2026-06-01")]),
    ("since spring", [("2026-03-01", None)]),
    ("the 2025 summer holiday", [("2025-06-01", "2025-09-01")]),
    ("Q3 2025", [("2025-07-01", "2025-10-01")]),
    ("in Q1", [("2026-01-01", "2026-04-01")]),
    ("the third quarter of 2025", [("2025-07-01", "2025-10-01")]),
    ("in 2021", [("2021-01-01", "2022-01-01")]),
    ("in the year 2021", [("2021-01-01", "2022-01-01")]),
    ("early 2023", [("2023-01-01", "2023-05-02")]),
    ("late 2023", [("2023-09-01", "2024-01-01")]),
    ("in the 1990s", [("1990-01-01", "2000-01-01")]),
    ("in the 90s", [("1990-01-01", "2000-01-01")]),
    # Open stretches and ranges.
    ("after 2023", [("2024-01-01", None)]),
    ("before 2024", [(None, "2024-01-01")]),
    ("until March 2024", [(None, "2024-04-01")]),
    ("since May 2024", [("2024-05-01", None)]),
    ("after March 18, 2024", [("2024-03-19", None)]),
    ("since yesterday", [("2026-03-11", None)]),
    ("between March and May 2024", [("2024-03-01", "2024-06-01")]),
    ("between August 11 and August 15 2023", [("2023-08-11", "2023-08-16")]),
    ("from November to February", [("2025-11-01", "2026-03-01")]),
    ("between 2021 and 2023", [("2021-01-01", "2024-01-01")]),
    ("March 3-5, 2024", [("2024-03-03", "2024-03-06")]),
    ("from July 25 to 28", [("2025-07-25", "2025-07-29")]),
    ("from 3 to 5 March 2024", [("2024-03-03", "2024-03-06")]),
    ("the week before August 3, 2023", [("2023-07-27", "2023-08-03")]),
    ("two weeks before August 11, 2023", [("2023-07-24", "2023-07-31")]),
    ("the Sunday before October 25, 2022", [day("2022-10-23")]),
    ("the day after March 3, 2024", [day("2024-03-04")]),
    ("the week of March 3, 2024", [("2024-02-26", "2024-03-04")]),
    # Figures.
    ("on 2024-02-29", [day("2024-02-29")]),
    ("2024/02/29", [day("2024-02-29")]),
    ("at 2024-03-18T10:00:00Z", [THE_18TH]),
    ("2026-07-25/26", [("2026-07-25", "2026-07-27")]),
    ("2026-07-25/08-02", [("2026-07-25", "2026-08-03")]),
    ("2026-07-25/2026-08-02", [("2026-07-25", "2026-08-03")]),
    ("2026-07/2026-09", [("2026-07-01", "2026-10-01")]),
    ("2026-07", [("2026-07-01", "2026-08-01")]),
    ("3/18/2024", [THE_18TH]),
    ("18/3/2024", [THE_18TH]),
    ("18.3.2024", [THE_18TH]),
    ("3/4/2024", []),
    ("4/4/2024", [day("2024-04-04")]),
    ("07/2024", [("2024-07-01", "2024-08-01")]),
    ("2026-W10", [LAST_WEEK]),
    # German.
    ("Was haben wir gestern gemacht?", [YESTERDAY]),
    ("vorgestern", [day("2026-03-10")]),
    ("gestern Morgen", [YESTERDAY]),
    ("vor drei Tagen", [THREE_DAYS_AGO]),
    ("letzte Woche", [LAST_WEEK]),
    ("in den letzten zehn Tagen", [("2026-03-02", "2026-03-13")]),
    ("letzten Monat", [LAST_MONTH]),
    ("voriges Jahr", [LAST_YEAR]),
    ("im März 2024", [MARCH_2024]),
    ("am 18. März 2024", [THE_18TH]),
    ("seit dem Frühling", [("2026-03-01", None)]),
    ("am Montag", [day("2026-03-09")]),
    ("Ende Mai 2024", [("2024-05-21", "2024-06-01")]),
    ("zwischen März und Mai 2024", [("2024-03-01", "2024-06-01")]),
    ("vor dem 3. März 2024", [(None, "2024-03-03")]),
    # French.
    ("Qu'avons-nous fait hier ?", [YESTERDAY]),
    ("avant-hier", [day("2026-03-10")]),
    ("aujourd’hui", [TODAY]),
    ("il y a trois jours", [THREE_DAYS_AGO]),
    ("la semaine dernière", [LAST_WEEK]),
    ("le mois dernier", [LAST_MONTH]),
    ("l'année dernière", [LAST_YEAR]),
    ("les 3 derniers mois", [("2025-12-12", "2026-03-13")]),
    ("en août 2024", [AUGUST_2024]),
    ("le 18 mars 2024", [THE_18TH]),
    ("depuis l'été 2024", [("2024-06-01", None)]),
    ("lundi dernier", [day("2026-03-09")]),
    # Spanish.
    ("¿Qué hicimos ayer?", [YESTERDAY]),
    ("anteayer", [day("2026-03-10")]),
    ("hace tres días", [THREE_DAYS_AGO]),
    ("la semana pasada", [LAST_WEEK]),
    ("el mes pasado", [LAST_MONTH]),
    ("el año pasado", [LAST_YEAR]),
    ("octubre del año pasado", [("2025-10-01", "2025-11-01")]),
    ("el 18 de marzo de 2024", [THE_18TH]),
    ("los últimos 3 meses", [("2025-12-12", "2026-03-13")]),
    ("después de agosto de 2024", [("2024-09-01", None)]),
    # Italian.
    ("Che cosa abbiamo fatto ieri?", [YESTERDAY]),
    ("tre giorni fa", [THREE_DAYS_AGO]),
    ("la settimana scorsa", [LAST_WEEK]),
    ("il mese scorso", [LAST_MONTH]),
    ("l'anno scorso", [LAST_YEAR]),
    ("il 18 marzo 2024", [THE_18TH]),
    ("nell'estate 2024", [("2024-06-01", "2024-09-01")]),
    # Portuguese.
    ("O que fizemos ontem?", [YESTERDAY]),
    ("há três dias", [THREE_DAYS_AGO]),
    ("na semana passada", [LAST_WEEK]),
    ("no mês passado", [LAST_MONTH]),
    ("no ano passado", [LAST_YEAR]),
    ("em 18 de março de 2024", [THE_18TH]),
    # Dutch.
    ("Wat hebben we gisteren gedaan?", [YESTERDAY]),
    ("drie dagen geleden", [THREE_DAYS_AGO]),
    ("vorige week", [LAST_WEEK]),
    ("vorige maand", [LAST_MONTH]),
    ("vorig jaar", [LAST_YEAR]),
    ("op 18 maart 2024", [THE_18TH]),
    # Polish.
    ("Co robiliśmy wczoraj?", [YESTERDAY]),
    ("trzy dni temu", [THREE_DAYS_AGO]),
    ("w zeszłym tygodniu", [LAST_WEEK]),
    ("w zeszłym miesiącu", [LAST_MONTH]),
    ("w zeszłym roku", [LAST_YEAR]),
    ("w marcu 2024", [MARCH_2024]),
    ("18 marca 2024", [THE_18TH]),
    ("tydzień temu", [LAST_WEEK]),
    # Russian.
    ("Что мы делали вчера?", [YESTERDAY]),
    ("три дня назад", [THREE_DAYS_AGO]),
    ("неделю назад", [LAST_WEEK]),
    ("на прошлой неделе", [LAST_WEEK]),
    ("в прошлом месяце", [LAST_MONTH]),
    ("в прошлом году", [LAST_YEAR]),
    ("в марте 2024", [MARCH_2024]),
    ("18 марта 2024 года", [THE_18TH]),
    # Japanese.
    ("昨日何をしましたか", [YESTERDAY]),
    ("一昨日", [day("2026-03-10")]),
    ("3日前", [THREE_DAYS_AGO]),
    ("先週の会議", [LAST_WEEK]),
    ("先週の月曜日", [day("2026-03-02")]),
    ("先月", [LAST_MONTH]),
    ("去年", [LAST_YEAR]),
    ("去年の8月", [("2025-08-01", "2025-09-01")]),
    ("2024年3月18日に何があった", [THE_18TH]),
    ("2024年以降", [("2024-01-01", None)]),
    ("2024年3月から5月まで", [("2024-03-01", "2024-06-01")]),
    ("過去10日間", [("2026-03-02", "2026-03-13")]),
    # Chinese.
    ("昨天我们做了什么", [YESTERDAY]),
    ("前天", [day("2026-03-10")]),
    ("三天前", [THREE_DAYS_AGO]),
    ("上周", [LAST_WEEK]),
    ("上個星期", [LAST_WEEK]),
    ("上周一", [day("2026-03-02")]),
    ("上个月", [LAST_MONTH]),
    ("今年春天陈浩在福建有什么收获?", [("2026-03-01", "2026-06-01")]),
    ("2024年3月18日", [THE_18TH]),
    ("2024年三月", [MARCH_2024]),
    ("最近三天", [("2026-03-09", "2026-03-13")]),
    # Korean.
    ("어제 뭐 했어", [YESTERDAY]),
    ("3일 전", [THREE_DAYS_AGO]),
    ("지난주 회의", [LAST_WEEK]),
    ("지난달", [LAST_MONTH]),
    ("작년", [LAST_YEAR]),
    ("2024년 3월 18일", [THE_18TH]),
    ("지난 여름", [("2025-06-01", "2025-09-01")]),
]

NO_TIME = [
    "",
    "You may march on",
    "She may fall",
    "a spring in her step",
    "the marching band",
    "a march through the village",
    "How many database connections may billing-api open in production?",
    "Which team set the record out of town?",
    "a couple of friends",
    "Room 2024 on floor 3",
    "He is 30 years old",
    "What did the 2023 Hallgren paper report?",
    "Is the museum closed on Mondays?",
    "every Monday",
    "99 % of March",
    "Was ist hier passiert?",
    "Wat is hier gebeurd?",
    "im Fall der Fälle",
    "¿Qué marca de café prefiere?",
    "con salsa mayo",
    "Il a été malade",
    "la fin du livre",
    "por la mañana",
    "Real estate prices",
    "We need it for 3 days",
    "She walked 3 km before lunch",
    "What happens next?",
    "the last one",
    "この本",
    "青春の歌",
    "三人の日本人",
    # Not in any calendar, or beyond it.
    "February 30",
    "30 February 2024",
    "2026-13-45",
    "2026-02-30",
    "2026-W60",
    "on 0000-00-00",
    "in the year 99999",
    "十万年前の化石",
    "a fossil from 100000 years ago",
    "100,000 years ago",
    "5 billion years ago",
    "3000 years ago",
    "0 days ago",
    "last 0 weeks",
    "last 99999999999 weeks",
    "the last 99999 years",
    "99999 years before 2024-01-01",
    "2026-07-25/24",
    "the 60th of March",
    "the fifth quarter of 2024",
]


def stretches(text: str, asked_at: datetime = NOW, timezone: str = "UTC") -> list[Stretch]:
    """The local days on which each stretch begins and ends; a stretch always begins with a day."""
    window = asked_window(text, asked_at, timezone)
    zone = ZoneInfo(timezone)
    found: list[Stretch] = []
    for span in window.spans if window else ():
        ends: list[str | None] = []
        for moment in (span.start, span.end):
            local = None if moment is None else moment.astimezone(zone)
            assert local is None or (local.hour, local.minute) == (0, 0)
            ends.append(None if local is None else local.date().isoformat())
        found.append((ends[0], ends[1]))
    return found


@pytest.mark.parametrize(("text", "expected"), PHRASES)
def test_a_phrase_is_read(text: str, expected: list[Stretch]) -> None:
    for timezone in ("UTC", "Europe/Zurich", "America/New_York", "Asia/Tokyo"):
        assert stretches(text, timezone=timezone) == expected


@pytest.mark.parametrize("text", NO_TIME)
def test_what_is_no_date_is_none(text: str) -> None:
    assert stretches(text) == []
