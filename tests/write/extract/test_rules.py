"""What the rules read from a text, and what they must not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.types.extraction import FoundFact
from ebbtide.write.extract.rules import extract

STATED = [
    ("Ann works at Acme.", "works_at", "Ann works at Acme."),
    ("Ann currently works for Acme.", "works_at", "Ann works at Acme."),
    ("Dr. Ann Smith works at the University of Oslo.", "works_at", "Ann Smith works at the University of Oslo."),
    ("I work at Acme Inc. and I live in Berlin.", "lives_in", "Eva lives in Berlin."),
    ("I'm working at Acme.", "works_at", "Eva works at Acme."),
    ("I've worked at Acme since 2019.", "works_at", None),
    ("Ann, who works at Initech, likes jazz.", "works_at", "Ann works at Initech."),
    ("Ann lives in Berlin and works at Acme.", "works_at", "Ann works at Acme."),
    ("We live in Berlin.", "lives_in", "Eva lives in Berlin."),
    ("Bob and I live in Paris.", "lives_in", "Bob lives in Paris."),
    ("Bob and I live in Paris.", "lives_in", "Eva lives in Paris."),
    ("Ann and Bob work at Acme.", "works_at", "Bob works at Acme."),
    ("I moved from Berlin to Oslo last year.", "lives_in", "Eva moved to Oslo."),
    ("I moved from Berlin to Oslo last year.", "lived_in", "Eva used to live in Berlin."),
    ("Ann has moved to Lisbon.", "lives_in", "Ann moved to Lisbon."),
    ("Ann used to work at Acme.", "worked_at", "Ann used to work at Acme."),
    ("Patient Ann Berg is allergic to penicillin.", "allergic_to", "Ann Berg is allergic to penicillin."),
    ("Remember for the next time: I live in Oslo.", "lives_in", "Eva lives in Oslo."),
    # What leads in is no label of a speaker.
    ("Please remember: I live in Oslo.", "lives_in", "Eva lives in Oslo."),
    ("Remember this: I'm allergic to peanuts.", "allergic_to", "Eva is allergic to peanuts."),
    ("About me: I live in Oslo. I work at Acme.", "lives_in", "Eva lives in Oslo."),
    ("About me: I live in Oslo. I work at Acme.", "works_at", "Eva works at Acme."),
    ("FYI: I live in Oslo.", "lives_in", "Eva lives in Oslo."),
    ("Note to self: I live in Oslo.", "lives_in", "Eva lives in Oslo."),
    ("Hey Claude, remember this: I live in Oslo.", "lives_in", "Eva lives in Oslo."),
    ("eva: I live in Oslo.", "lives_in", "Eva lives in Oslo."),
    ("Please remember that I live in Oslo.", "lives_in", "Eva lives in Oslo."),
    ("Don't forget that I live in Oslo.", "lives_in", "Eva lives in Oslo."),
    # That it holds now is news, and replaces what was.
    ("I work at Acme now.", "works_at", "Eva now works at Acme."),
    ("My favourite colour is green now.", "favourite colour", "Eva's favourite colour is now green."),
    ("I am married to Tom now.", "married_to", "Eva is now married to Tom."),
    ("Hi, I'm Eva and I work at Acme.", "works_at", "Eva works at Acme."),
    ("Ann likes jazz and dislikes rock.", "likes", "Ann likes jazz."),
    ("Ann leads the Apollo project.", "leads", "Ann leads the Apollo project."),
    ("Ann reports to Bob on Fridays.", "reports_to", "Ann reports to Bob."),
    ("Tom is married to Lisa. They have a dog.", "married_to", "Tom is married to Lisa."),
    ("Ann works at Acme. That is not far from here, and she walks.", "works_at", "Ann works at Acme."),
    ("Ann likes to work late and leaves at nine.", "likes", "Ann likes to work late."),
    ("Ann was fired from Acme.", "worked_at", "Ann no longer works at Acme."),
    ("I am fluent in Dutch.", "speaks", "Eva speaks Dutch."),
    ("quick note: Ann lives in Leeds", "lives_in", "Ann lives in Leeds."),
    ("I no longer work at Acme.", "worked_at", "Eva no longer works at Acme."),
    ("Ann quit her job at Acme.", "worked_at", "Ann no longer works at Acme."),
    ("Ann left Acme Inc. for Globex Ltd. in May.", "works_at", "Ann left for Globex Ltd."),
    ("Ann left Acme Inc. for Globex Ltd. in May.", "worked_at", "Ann used to work at Acme Inc."),
    ("Ann started working at Globex.", "works_at", "Ann started working at Globex."),
    ("Example: Ann works at Acme.\nBob lives in Paris.", "lives_in", "Bob lives in Paris."),
    ("Examples:\n- Ann works at Acme\n\nBob lives in Paris.", "lives_in", "Bob lives in Paris."),
    ("```\nAnn works at Acme.\n```\nBob lives in Paris.", "lives_in", "Bob lives in Paris."),
    ("    Bob lives in Paris.\n\n    He likes it.", "lives_in", "Bob lives in Paris."),
    ("Ann married Bob in 2019 and works at Acme.", "married_to", "Ann married Bob."),
    ("Ann married Bob after Cid divorced Dora.", "married_to", "Ann married Bob."),
    ("I moved to Berlin and stopped smoking.", "lives_in", "Eva moved to Berlin."),
    ("I moved to Berlin and left Acme in 2021.", "lives_in", "Eva moved to Berlin."),
    ("I moved to Berlin and Ann moved to Oslo.", "lives_in", "Eva moved to Berlin."),
    ("Ann is married to Bob.", "married_to", "Ann is married to Bob."),
    ("Bob reports to Ann.", "reports_to", "Bob reports to Ann."),
    ("Ann manages Project Falcon.", "manages", "Ann manages Project Falcon."),
    ("I'm a member of the Falcon Team.", "member_of", "Eva is a member of the Falcon Team."),
    ("Ann studies at Oslo University.", "studies_at", "Ann studies at Oslo University."),
    ("I own a Tesla Model 3.", "owns", "Eva owns a Tesla Model 3."),
    ("Project Falcon uses Kafka.", "uses", "Project Falcon uses Kafka."),
    ("I use Slack and Node.js.", "uses", "Eva uses Node.js."),
    ("Ann speaks French and German.", "speaks", "Ann speaks German."),
    ("I am skilled in Rust.", "skilled_in", "Eva is skilled in Rust."),
    ("Munich is a city in Germany.", "located_in", "Munich is located in Germany."),
    ("Acme GmbH is headquartered in Munich.", "located_in", "Acme GmbH is located in Munich."),
    ("I was born in Berlin.", "born_in", "Eva was born in Berlin."),
    ("Ann was born on 4 May 1987.", "born_on", "Ann was born on 4 May 1987."),
    ("I'm allergic to peanuts.", "allergic_to", "Eva is allergic to peanuts."),
    ("I prefer tea over coffee because it is mild.", "prefers", "Eva prefers tea over coffee."),
    ("I hate the cold, but I love skiing.", "dislikes", "Eva hates the cold."),
    ("I hate the cold, but I love skiing.", "likes", "Eva loves skiing."),
    ("I can't stand loud music!", "dislikes", "Eva can't stand loud music."),
    ("I don't like cilantro.", "dislikes", "Eva does not like cilantro."),
    ("Ann doesn't eat pork.", "avoids", "Ann does not eat pork."),
    ("I used to love jazz.", "liked", "Eva used to love jazz."),
    ("My favourite colour is blue.", "favourite colour", "Eva's favourite colour is blue."),
    ("Ann's favorite food is ramen.", "favourite food", "Ann's favorite food is ramen."),
    ("My sister Julia called.", "sister", "Eva's sister is Julia."),
    ("Ann's husband, Bob, called.", "married_to", "Ann's husband is Bob."),
    ("My wife's name is Ida.", "married_to", "Eva's wife is Ida."),
    ("My boss is Tom.", "reports_to", "Eva's boss is Tom."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "predicate", "content"), STATED)
def test_what_a_text_states_is_found(text: str, predicate: str, content: str | None) -> None:
    found = [fact for fact in extract(text, speaker="Eva").facts if fact.predicate == predicate]

    assert found
    assert content is None or content in [fact.content for fact in found]


SILENT = [
    "Ann works at Acme (not).",
    "Ann likes neither tea nor coffee.",
    "My favourite colour isn't blue.",
    "Bob reports to Ann that the build failed.",
    "In the book Dune, Paul lives in Caladan.",
    "Example: Ann works at Acme.",
    "Sample output: Ann works at Acme.",
    "Here is an example:\n- Ann works at Acme\n- Bob lives in Berlin",
    "Examples:\n\nAnn works at Acme.\nBob lives in Berlin.",
    "Template: My name is Ann and I live in Berlin.",
    "Some write facts, e.g. Ann works at Acme.",
    "Beispiel: Ann arbeitet bei Acme.",
    "z. B. Ann arbeitet bei Acme.",
    "Par exemple : Ann travaille chez Acme.",
    "Ejemplo: Ann vive en Berlin.",
    "Por ejemplo, Ann trabaja en Acme.",
    "Run this:\n```\nAnn works at Acme.\n```",
    "Run this:\n~~~text\nAnn works at Acme.\n\nBob lives in Berlin.",
    "Run this:\n\n    Ann works at Acme.\n",
    "Ann and Bob got married in 2019 and divorced in 2021.",
    "Ann got married to Bob in 2019 and divorced in 2021.",
    "Ann married Bob in 2019, but they divorced in 2021.",
    "I married Bob in 2019 and he died in 2021.",
    "Ann is married to Bob, but they separated last year.",
    "Ann started working at Acme in 2019 and quit in 2021.",
    "Ann started working at Acme in 2019, but was fired in 2021.",
    "Ann started working at Acme in 2019 before moving to Globex Ltd.",
    "I moved to Berlin in 2019 and left in 2021.",
    "I moved to Berlin in 2019 and moved away in 2021.",
    "I moved to Berlin in 2019, then back to the coast.",
    "Ann zog nach Berlin und kehrte 2021 zurück.",
    "For example, Ann works at Acme.",
    # Questions.
    "Does Ann work at Acme?", "Do I live in Oslo?", "Where does Ann live?", "Ann works at Acme, right?",
    "Is Ann married to Bob", "does ann work at Acme", "Ann lives in Oslo, doesn't she?", "Have I moved to Berlin",
    # Conditions and what is only thought of.
    "If I moved to Oslo, I would work at Acme.", "I might move to Oslo.", "I would love a coffee.",
    "Suppose Ann works at Acme.", "Imagine I live in Oslo.", "I wish I lived in Oslo.", "What if I work at Acme.",
    "Unless I live in Oslo, it is far.", "When I live in Oslo, I will ski.", "Once I live in Oslo, I will ski.",
    "I want to work at Acme.", "I'm going to move to Oslo.", "I hope to live in Paris.", "I plan to join Acme Inc.",
    "I'd like to live in Paris.", "I will live in Oslo.", "I could live in Oslo.", "Let's pretend I live in Oslo.",
    "I almost moved to Oslo.", "I nearly moved to Berlin.",
    # Denials.
    "Ann doesn't work at Acme.", "I don't live in Oslo.", "I have never lived in Oslo.", "I never worked at Acme.",
    "Ann isn't married to Bob.", "Nobody works at Acme.", "It is not true that Ann works at Acme.",
    "I'm not allergic to nuts.", "I'm not sure Ann works at Acme.", "No, Ann never moved to Oslo.",
    "I do not use Slack.",
    "Neither Ann works at Acme.",
    # Hearsay and doubt.
    "Bob says Ann works at Acme.", "I think Ann works at Acme.", "Ann probably works at Acme.",
    "According to Bob, Ann works at Acme.", "Apparently Ann works at Acme.", "I heard that Ann lives in Oslo.",
    "Ann works at Acme, I guess.", "Ann allegedly works at Acme.", "It may be that Ann works at Acme.",
    "Maybe I live in Oslo.", "Rumor has it Ann works at Acme.", "I dreamed I lived in Oslo.",
    "Ann claims Bob lives in Oslo.",
    # Quotations.
    'He wrote "I work at Acme".', "She shouted “I live in Oslo”.", "The sign read 'I love Oslo' in red.",
    "> I work at Acme, he wrote: \"Ann works at Acme\"", "Sag «Ann works at Acme».",
    # What is over says nothing of now, and what is unclear nothing at all.
    "The friend of Ann works at Acme.", "Ann works at Ann's bakery.", "Ann lives in Berlin or Paris.",
    "He works at Acme.", "She lives in Oslo.", "Everyone lives in Oslo.", "I love you.", "I like it.", "I love that!",
    "I love how you did this.", "I love your painting.", "I joined Tom for lunch.", "I left Berlin.",
    "I moved to Berlin when I was five.", "the things I love makes writing more fun", "a job I enjoy every day",
    "My boss is Tom or Tim.", "My old boss Tom left.", "I love to.", "I work at night.", "I live in a small house.",
    "We moved from Jira to Linear.", "Assistant: I live in Oslo.", "ANN WORKS AT ACME", "I am from.", "I work at",
    "Ann speaks fast.", "Ann speaks at PyCon.", "Ann leads Bob to the door.", "Ann married Bob off to Carla.",
    "Ann leads Mia astray.", "Ann manages the Leeds office.", "Ann moved to Plan B.", "Ann belongs to Bob.",
    "Ann moved to Oslo and back to Bergen.", "Ann has a job at Acme lined up.", "I don't drink and drive.",
    # What the words behind take back, and what those before make of it.
    "Ann works at Acme. Just kidding.", "Ann works at Acme. Not.", "Fact check: Ann works at Acme. False.",
    "Ann works at Acme, not.", "Ann lives in Oslo. Wait, no, Bergen.", "Ann lives in Oslo. Actually no, she moved.",
    "Ann lives in Oslo. That's not true.", "Ann lives in Oslo. Or so they say.",
    "Tom married Lisa in 2019. They divorced in 2021.", "Tom is married to Lisa. Both got separated.",
    "Yeah right, I work at Acme.", "Sure, and I live in Windsor Castle.", "Expected output: Ann works at Acme.",
    "Hypothesis: Ann works at Acme.", "Option A: Ann lives in Oslo.", "Password hint: I live in Oslo",
    "14:02 ann: I live in Oslo", "<ann> I live in Oslo", "ann> I live in Oslo", "RT @ann: I live in Oslo",
    "On Monday, Ann wrote: I live in Oslo", "Remember what Ann wrote: I live in Oslo", "my bot: I live in Oslo",
    "AI assistant: I live in Oslo", "Note from Bob: I live in Oslo", "I don't know that I live in Oslo",
    "Ann lives in Oslo (not sure).", "Ann lives in Oslo (unconfirmed).", "Ann lives in Oslo, or used to.",
    "Ann lives in Oslo, iirc.", "Per LinkedIn, Ann works at Acme.", "Ann works at Acme [citation needed].",
    "Ann works at Acme, yeah sure.", "INSERT INTO facts VALUES ('Ann works at Acme');", "Ann works at Acme.txt",
    "Ann moved to Python 3.12", "Ann moved to Port 8080.", "Ann lies in Oslo.", "My husband is Swedish.",
    "Ann moved from Turku to Oulu to Oslo.", "I have lived in Oslo for years, but moved.", "Ann never drinks alone.",
    "Ann is learning quickly.", "Ann is an expert in Roman history.",
    "Patient is allergic to penicillin.", "I can't stand up.", "Ann speaks Monday at noon.",
]  # fmt: skip


@pytest.mark.parametrize("text", SILENT)
def test_what_a_text_does_not_state_is_not_found(text: str) -> None:
    assert extract(text, speaker="Eva").facts == ()


def test_what_is_over_is_not_said_to_be_so() -> None:
    for text in (
        "Ann used to work at Acme.",
        "Ann no longer lives in Oslo.",
        "Ann worked at Acme.",
        "Ann left my team.",
    ):
        assert not {"works_at", "lives_in", "member_of"} & {fact.predicate for fact in extract(text).facts}


def only(text: str, **arguments: object) -> FoundFact:
    (fact,) = extract(text, **arguments).facts  # pyright: ignore[reportArgumentType]
    return fact


def test_a_fact_knows_where_it_is_said() -> None:
    text = "Well. Ann works at Acme these days."
    fact = only(text)

    assert text[fact.start : fact.end] == "Ann works at Acme"
    assert (fact.subject.text, fact.subject.type) == ("Ann", "PERSON")
    assert text[fact.subject.start : fact.subject.end] == "Ann"
    assert (fact.object_name.text, fact.object_name.type) == ("Acme", "COMPANY")
    assert text[fact.object_name.start : fact.object_name.end] == "Acme"
    assert fact.related
    assert fact.rule == "works at"


def test_an_unknown_speaker_has_no_name_and_their_own_words() -> None:
    fact = only("I live in Oslo now.")

    assert fact.content == "I live in Oslo now."
    assert fact.subject is None
    assert not fact.related


def test_a_speaker_may_say_their_name() -> None:
    facts = extract("My name is Ann. I live in Oslo.").facts

    assert [fact.content for fact in facts] == ["Ann lives in Oslo."]


def test_a_line_says_who_speaks_where_people_take_turns() -> None:
    facts = extract("Ann: I live in Oslo.\nBob: I live in Rome and I love jazz.", speaker="Eva").facts

    assert [fact.content for fact in facts] == ["Ann lives in Oslo.", "Bob lives in Rome.", "Bob loves jazz."]


def test_a_single_line_that_somebody_else_said_is_not_the_speakers() -> None:
    assert extract("Bob: I live in Oslo.", speaker="Eva").facts == ()


def test_a_label_is_no_speaker() -> None:
    assert only("Update: I live in Oslo.", speaker="Eva").content == "Eva lives in Oslo."


@pytest.mark.parametrize(
    ("text", "importance"),
    [
        ("I'm allergic to nuts.", 0.9),
        ("I was diagnosed with asthma.", 0.9),
        ("Important: I live in Oslo.", 0.85),
        ("I work at Acme.", 0.7),
        ("I prefer tea.", 0.5),
        ("I'm friends with Ann.", 0.3),
    ],
)
def test_importance_is_by_the_kind_of_statement(text: str, importance: float) -> None:
    assert only(text, speaker="Eva").importance == importance


def test_a_word_on_what_is_talked_of_is_less_certain_than_a_taste() -> None:
    assert only("I love the colours.", speaker="Eva").confidence < only("I love tea.", speaker="Eva").confidence


NAMED = [
    ("We met Dr. Smith in the lobby.", {"Smith": "PERSON"}),
    ("Thanks, Caroline!", {"Caroline": "PERSON"}),
    ("My friend Tom cooked.", {"Tom": "PERSON"}),
    ("We took a trip to Lisbon with Ann's wife.", {"Lisbon": "PLACE", "Ann": "PERSON"}),
    ("The contract with Globex Corp is signed.", {"Globex Corp": "COMPANY"}),
    ("They met at the Oslo Marathon near Lake Como.", {"Oslo Marathon": "EVENT", "Lake Como": "PLACE"}),
    ("The bug is in Project Falcon.", {"Project Falcon": "PROJECT"}),
    ("Lunch with Zed was fine.", {"Zed": None}),
    ("Today is Monday. The weather in May is nice. I speak.", {}),
    ("Painting is fun. Really? Yes.", {}),
    ("THIS IS ALL SHOUTED AND NAMES NOBODY", {}),
    ("We read the Lord of the Rings together.", {"Lord of the Rings": None}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names"), NAMED)
def test_names_are_found_and_typed_by_what_stands_around_them(text: str, names: dict[str, str | None]) -> None:
    assert {name.text: name.type for name in extract(text).names} == names


def test_known_names_are_found_wherever_they_stand() -> None:
    found = extract("Mel is great! Wow Mel.", known={"Mel": "PERSON"}).names

    assert [(name.text, name.type, name.start) for name in found] == [("Mel", "PERSON", 0)]


def test_cues_that_contradict_each_other_tell_nothing() -> None:
    found = extract("My friend Jordan called. We took a trip to Jordan.").names

    assert {name.text: name.type for name in found} == {"Jordan": None}


PIECES = st.sampled_from(
    ["n't", "I", "Ann", "Bob", "works at", "live in", "Acme", "Oslo", "and", "not", "?", ".", ",", '"', "\n", "if",
     "'s", "my", "wife", "favourite", "is", "moved from", "to", "prefer", "tea", "Dr.", "used to work at",
     "Inc.", ":", "“"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map(" ".join)))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_and_every_fact_is_traceable(text: str) -> None:
    found = extract(text, speaker="Eva")

    for fact in found.facts:
        said = " ".join(text[fact.start : fact.end].split())
        assert said
        assert fact.object in said
        assert fact.object in fact.content
        assert fact.content.endswith(".")
        assert 0 < fact.confidence <= 1
        assert 0 < fact.importance <= 1
    for name in found.names:
        assert " ".join(text[name.start : name.end].split()) == name.text


@given(st.lists(PIECES, max_size=25).map(" ".join))
def test_a_question_states_nothing(text: str) -> None:
    one = " ".join(
        text.replace("\n", " ").replace(".", " ").replace("?", " ").replace('"', " ").replace("“", " ").split()
    )

    assert extract(f"{one} ?", speaker="Eva").facts == ()


def test_whoever_introduces_herself_is_no_second_subject() -> None:
    for speaker in ("Ada", None):
        assert len(extract("Hi, I'm Ada and I live in Basel.", speaker=speaker).facts) == 1
