"""The words and phrases of German."""

from __future__ import annotations

from ebbtide.write.extract.relation import CRITICAL, PERSONAL, PREFERENCE, PROFESSIONAL, Language, Relation
from ebbtide.write.extract.word_list import listed

__all__ = ["GERMAN"]

MOVED_TO = Relation("lives_in", "PLACE", "zog nach", 0.75, PERSONAL, tense="began", first="zog nach", third="zog nach")
RELATIONS = (
    Relation("works_at", "COMPANY", "arbeitet bei", 0.9, PROFESSIONAL,
             first="arbeite bei|arbeite für|bin angestellt bei", third="arbeitet bei|arbeitet für|ist angestellt bei",
             plural="arbeiten bei"),
    Relation("worked_at", "COMPANY", "arbeitete bei", 0.85, PROFESSIONAL, tense="over",
             first="arbeitete bei", third="arbeitete bei"),
    Relation("worked_at", "COMPANY", "arbeitet nicht mehr bei", 0.85, PROFESSIONAL, tense="over",
             first="arbeite nicht mehr bei", third="arbeitet nicht mehr bei"),
    Relation("lives_in", "PLACE", "wohnt in", 0.9, PERSONAL, first="wohne in|lebe in", third="wohnt in|lebt in",
             plural="wohnen in|leben in"),
    Relation("lived_in", "PLACE", "wohnte in", 0.85, PERSONAL, tense="over",
             first="wohnte in|lebte in", third="wohnte in|lebte in"),
    Relation("lived_in", "PLACE", "wohnt nicht mehr in", 0.85, PERSONAL, tense="over",
             first="wohne nicht mehr in", third="wohnt nicht mehr in"),
    MOVED_TO,
    Relation("lived_in", "PLACE", "wohnte in", 0.75, PERSONAL, tense="over", joint="nach", destination=MOVED_TO,
             first="zog von", third="zog von"),
    Relation("lived_in", "PLACE", "wohnte in", 0.75, PERSONAL, tense="over", joint="nach", destination=MOVED_TO,
             lasting=frozenset({"gezogen", "umgezogen"}), first="bin von", third="ist von"),
    Relation("lives_in", "PLACE", "zog nach", 0.75, PERSONAL, tense="began", first="bin nach", third="ist nach",
             lasting=frozenset({"gezogen", "umgezogen"})),
    Relation("married_to", "PERSON", "ist verheiratet mit", 0.9, PERSONAL, first="bin verheiratet mit",
             third="ist verheiratet mit"),
    Relation("married_to", "PERSON", "ist verheiratet mit", 0.9, PERSONAL, first="bin mit", third="ist mit",
             lasting=frozenset({"verheiratet"})),
    Relation("studies_at", "COMPANY", "studiert an der", 0.9, PROFESSIONAL, first="studiere an der",
             third="studiert an der"),
    Relation("speaks", "language", "spricht", 0.85, PERSONAL, first="spreche", third="spricht"),
    Relation("born_in", "PLACE", "wurde geboren in", 0.95, PERSONAL, tense="always",
             first="wurde geboren in|bin geboren in", third="wurde geboren in"),
    Relation("born_in", "PLACE", "wurde geboren in", 0.95, PERSONAL, tense="always", first="wurde in", third="wurde in",
             lasting=frozenset({"geboren"})),
    Relation("comes_from", "PLACE", "kommt aus", 0.85, PERSONAL, first="komme aus|stamme aus",
             third="kommt aus|stammt aus"),
    Relation("allergic_to", "anything", "ist allergisch gegen", 0.95, CRITICAL,
             first="bin allergisch gegen|bin allergisch auf", third="ist allergisch gegen|ist allergisch auf"),
    Relation("likes", "anything", "mag", 0.8, PREFERENCE, first="mag|mag gerne", third="mag|mag gerne",
             kind="preference"),
    Relation("likes", "anything", "liebt", 0.8, PREFERENCE, first="liebe", third="liebt", kind="preference"),
    Relation("dislikes", "anything", "hasst", 0.85, PREFERENCE, first="hasse", third="hasst", kind="preference"),
    Relation("dislikes", "anything", "mag keinen", 0.85, PREFERENCE, first="mag keinen", third="mag keinen",
             kind="preference"),
    Relation("dislikes", "anything", "mag keine", 0.85, PREFERENCE, first="mag keine", third="mag keine",
             kind="preference"),
    Relation("dislikes", "anything", "mag kein", 0.85, PREFERENCE, first="mag kein", third="mag kein",
             kind="preference"),
    Relation("prefers", "anything", "bevorzugt", 0.9, PREFERENCE, first="bevorzuge", third="bevorzugt",
             kind="preference"),
)  # fmt: skip

GERMAN = Language(
    code="de",
    i=frozenset({"ich"}),
    we=frozenset({"wir"}),
    my=frozenset({"mein", "meine"}),
    adverbs=listed("jetzt derzeit aktuell momentan auch noch immer schon wirklich sehr inzwischen mittlerweile"),
    having=frozenset(),
    capital_nouns=True,
    both=frozenset({"sie", "beide"}),
    splitting=listed("gewesen geschieden scheiden trennten getrennt bis gestorben starb verlassen verließ"),
    leaving=listed("bis verließ verlassen kündigte gekündigt beendete beendet zurück"),
    moving=listed("zog zogen gezogen wechselte"),
    doubting=listed(
        """
        wenn falls ob vielleicht vermutlich wahrscheinlich möglicherweise angeblich unbestätigt anscheinend scheinbar
        eventuell wohl hoffentlich angenommen würde würden könnte könnten hätte wäre sagt sagte sagen erzählt erzählte
        behauptet behauptete meint meinte glaubt glaube glaubte denke denkt dachte hörte gehört gerücht wünschte
        wünsche hoffe hofft träumte frage fragt laut stell falsch beispiel beispielsweise hypothetisch
        fiktiv sofern sobald möchte möchten will wollen wollte
        """
    ),
    leading=listed("als bevor nachdem bis sobald früher einst damals kaum fast beinahe"),
    denying=listed("nicht nie niemals kein keine keinen niemand weder werde wird soll muss darf kann"),
    asking=listed(
        """
        wer was wann wo warum wieso wie welche welcher welches wen wem wohnt wohne arbeitet arbeite lebt lebe mag ist
        bin hat habe kann kannst wird soll liebt zog
        """
    ),
    articles=listed("der die das dem den"),
    joining=frozenset({"und"}),
    ending=listed("weil aber da denn seit während als wenn damit obwohl bis vor nach obschon sondern doch und"),
    pointing=listed(
        """
        es das dies dieses diese diesen dieser ihn ihr ihm sie er dich dir mich mir uns euch was wie wo wer dass man
        alles nichts etwas mein meine meinen dein deine deinen sein seine seinen ihre ihren unser unsere nicht
        """
    ),
    auxiliaries=listed("bin bist ist sind war waren habe hast hat haben kann wird werde soll nicht"),
    relations=RELATIONS,
    opening=listed("dass weil denn also außerdem übrigens nun ja nein da obwohl zudem"),
    relatives={
        "frau": "married_to", "mann": "married_to", "schwester": "sister", "bruder": "brother", "mutter": "mother",
        "vater": "father", "sohn": "son", "tochter": "daughter", "chef": "reports_to", "chefin": "reports_to",
        "freundin": "friend", "freund": "friend",
    },
    name_words=frozenset({"name"}),
    being=frozenset({"ist"}),
    owned="{word} von {owner} ist {object}",
    called_words=frozenset({"heißt"}),
    called="heißt",
)  # fmt: skip
