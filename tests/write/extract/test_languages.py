"""What the rules read in German, French and Spanish: little, and that right."""

from __future__ import annotations

import pytest

from ebbtide.write.extract.rules import extract

STATED = [
    ("Ich arbeite bei Siemens und wohne in München.", "works_at", "Eva arbeitet bei Siemens."),
    ("Ich arbeite bei Siemens und wohne in München.", "lives_in", "Eva wohnt in München."),
    ("Anna wohnt in Berlin.", "lives_in", "Anna wohnt in Berlin."),
    ("Anna arbeitet nicht mehr bei Siemens.", "worked_at", "Anna arbeitet nicht mehr bei Siemens."),
    ("Ich bin von Berlin nach Hamburg gezogen.", "lives_in", "Eva zog nach Hamburg."),
    ("Ich zog von Berlin nach Hamburg.", "lived_in", "Eva wohnte in Berlin."),
    ("Ich bin mit Peter verheiratet.", "married_to", "Eva ist verheiratet mit Peter."),
    ("Ich wurde in Bremen geboren.", "born_in", "Eva wurde geboren in Bremen."),
    ("Ich bin allergisch gegen Nüsse.", "allergic_to", "Eva ist allergisch gegen Nüsse."),
    ("Ich mag keinen Kaffee.", "dislikes", "Eva mag keinen Kaffee."),
    ("Ich mag Kaffee.", "likes", "Eva mag Kaffee."),
    ("Meine Schwester Julia kommt aus Wien.", "sister", "Schwester von Eva ist Julia."),
    ("Meine Schwester Julia kommt aus Wien.", "comes_from", "Julia kommt aus Wien."),
    ("Ich mag Jens sehr.", "likes", "Eva mag Jens."),
    ("Anna spricht Deutsch.", "speaks", "Anna spricht Deutsch."),
    ("J'habite à Lyon et je travaille chez Renault.", "lives_in", "Eva habite à Lyon."),
    ("J'habite à Lyon et je travaille chez Renault.", "works_at", "Eva travaille chez Renault."),
    ("Marie a déménagé de Lyon à Paris.", "lives_in", "Marie a déménagé à Paris."),
    ("Je préfère le thé au café.", "prefers", "Eva préfère le thé au café."),
    ("Je suis allergique aux noix.", "allergic_to", "Eva est allergique aux noix."),
    ("Vivo en Madrid y trabajo en Telefónica.", "lives_in", "Eva vive en Madrid."),
    ("Vivo en Madrid y trabajo en Telefónica.", "works_at", "Eva trabaja en Telefónica."),
    ("Ana ya no trabaja en Telefónica.", "worked_at", "Ana ya no trabaja en Telefónica."),
    ("Ana se mudó de Lima a Quito.", "lives_in", "Ana se mudó a Quito."),
    ("Soy alérgica a las nueces.", "allergic_to", "Eva es alérgica a las nueces."),
]


@pytest.mark.parametrize(("text", "predicate", "content"), STATED)
def test_what_a_text_states_is_found(text: str, predicate: str, content: str) -> None:
    assert content in [fact.content for fact in extract(text, speaker="Eva").facts if fact.predicate == predicate]


SILENT = [
    "Anna wohnt in der Nähe von Berlin.", "Anna kommt aus dem Urlaub.", "Ich lebe in Trennung.",
    "Ich arbeite bei dem Wetter nicht.", "Anna spricht leise.", "Anna spricht Klartext.",
    "Anna ist mit Peter verheiratet gewesen.", "Anna ist mit Peter verheiratet. Sie sind geschieden.",
    "Ich arbeite bei Siemens nicht mehr.", "Ich komme aus Spaß mit.", "Anna wohnt in Berlin (unbestätigt).",
    "Marie est mariée à Luc, dit-on.", "Marie habite à Paris, paraît-il.",
    "Marie travaille pour Médecins sans frontières.",
    "Wohnt Anna in Berlin?", "Wenn ich in Berlin wohne, fahre ich Rad.", "Anna arbeitet nicht bei Siemens.",
    "Vielleicht wohnt Anna in Berlin.", "Peter sagt, Anna wohnt in Berlin.", "Ich würde gern in Berlin wohnen.",
    "Ich wohne in Miete.", "Ich bin mit Peter gefahren.", "Ich bin von Paul enttäuscht.", "Der Hund mag Anna.",
    "Ich liebe es.", "Ich wurde in Bremen verhaftet.", "Sie wohnt in Berlin.", "Ich wohne noch nicht in Berlin.",
    "Est-ce que Marie habite à Paris ?", "Marie n'habite pas à Paris.", "Si j'habite à Lyon, je prends le métro.",
    "Je n'aime pas le vin.", "J'aimerais du vin.", "Il paraît que Marie habite à Paris.", "Elle habite à Paris.",
    "¿Vive Ana en Sevilla?", "Ana no vive en Sevilla.", "Si Ana vive en Sevilla, viene.", "No vivo en Madrid.",
    "Dicen que Ana vive en Sevilla.", "Ella vive en Sevilla.", "Mi trabajo en Google es bueno.", "Quizás vivo en Lima.",
]  # fmt: skip


@pytest.mark.parametrize("text", SILENT)
def test_what_a_text_does_not_state_is_not_found(text: str) -> None:
    assert extract(text, speaker="Eva").facts == ()


def test_a_verb_that_comes_last_is_part_of_what_is_said() -> None:
    (fact,) = extract("Ich bin mit Peter verheiratet.").facts
    assert fact.content == "Ich bin mit Peter verheiratet."


def test_german_nouns_are_no_names() -> None:
    found = extract("Der Hund und die Katze sind im Garten. Anna wohnt in Berlin.")

    assert {name.text for name in found.names} == {"Anna", "Berlin"}
