"""The words and phrases of French."""

from __future__ import annotations

from ebbtide.write.extract.relation import CRITICAL, PERSONAL, PREFERENCE, PROFESSIONAL, Language, Relation
from ebbtide.write.extract.word_list import listed

__all__ = ["FRENCH"]

MOVED_TO = Relation("lives_in", "PLACE", "a déménagé à", 0.75, PERSONAL, tense="began",
                    first="ai déménagé à", third="a déménagé à")  # fmt: skip
RELATIONS = (
    Relation("works_at", "COMPANY", "travaille chez", 0.9, PROFESSIONAL, first="travaille chez|travaille pour",
             third="travaille chez|travaille pour", plural="travaillent chez"),
    Relation("worked_at", "COMPANY", "a travaillé chez", 0.85, PROFESSIONAL, tense="over",
             first="ai travaillé chez|travaillais chez", third="a travaillé chez|travaillait chez"),
    Relation("lives_in", "PLACE", "habite à", 0.9, PERSONAL, first="habite à|vis à", third="habite à|vit à",
             plural="habitent à|vivent à"),
    Relation("lived_in", "PLACE", "a habité à", 0.85, PERSONAL, tense="over",
             first="ai habité à|habitais à|ai vécu à", third="a habité à|habitait à|a vécu à"),
    MOVED_TO,
    Relation("lived_in", "PLACE", "a habité à", 0.75, PERSONAL, tense="over", joint="à", destination=MOVED_TO,
             first="ai déménagé de", third="a déménagé de"),
    Relation("married_to", "PERSON", "est mariée à", 0.9, PERSONAL, first="suis mariée à", third="est mariée à"),
    Relation("married_to", "PERSON", "est marié à", 0.9, PERSONAL, first="suis marié à", third="est marié à"),
    Relation("studies_at", "COMPANY", "étudie à", 0.9, PROFESSIONAL, first="étudie à", third="étudie à",
             needs_cue=True),
    Relation("born_in", "PLACE", "est née à", 0.95, PERSONAL, tense="always", first="suis née à", third="est née à"),
    Relation("born_in", "PLACE", "est né à", 0.95, PERSONAL, tense="always", first="suis né à", third="est né à"),
    Relation("allergic_to", "anything", "est allergique aux", 0.95, CRITICAL, first="suis allergique aux",
             third="est allergique aux"),
    Relation("allergic_to", "anything", "est allergique au", 0.95, CRITICAL, first="suis allergique au",
             third="est allergique au"),
    Relation("allergic_to", "anything", "est allergique à", 0.95, CRITICAL, first="suis allergique à",
             third="est allergique à"),
    Relation("likes", "anything", "aime", 0.8, PREFERENCE, first="aime|aime bien|aime beaucoup",
             third="aime|aime bien|aime beaucoup", kind="preference"),
    Relation("likes", "anything", "adore", 0.8, PREFERENCE, first="adore", third="adore", kind="preference"),
    Relation("dislikes", "anything", "déteste", 0.85, PREFERENCE, first="déteste", third="déteste", kind="preference"),
    Relation("prefers", "anything", "préfère", 0.9, PREFERENCE, first="préfère", third="préfère", kind="preference"),
)  # fmt: skip

FRENCH = Language(
    code="fr",
    i=frozenset({"je", "j'"}),
    we=frozenset({"nous"}),
    my=frozenset({"mon", "ma"}),
    adverbs=listed("maintenant actuellement aussi toujours vraiment désormais"),
    having=frozenset(),
    both=frozenset({"ils", "elles"}),
    splitting=listed("divorcé divorcée divorcés séparé séparée séparés jusqu' jusqu'en jusque mort décédé quitté"),
    leaving=listed("quitté quittée démissionné jusqu' jusqu'en jusque parti partie retourné retournée"),
    moving=listed("déménagé"),
    doubting=listed(
        """
        si peut-être probablement sûrement apparemment prétendument soi-disant paraît semble selon imagine imaginons
        supposons dit disent disait croit crois croyais pense pensais pensait espère espérait entendu rumeur rêvé
        exemple hypothétiquement aimerais voudrais voudrait pourrait pourrais serait demande faux que qu'
        """
    ),
    leading=listed("quand lorsque avant après dès jadis autrefois presque"),
    denying=listed("ne n' pas jamais plus personne aucun aucune ni"),
    asking=listed("est-ce qui quoi quand où pourquoi comment combien quel quelle quels quelles"),
    articles=listed("la le l'"),
    joining=frozenset({"et"}),
    ending=listed("parce mais car depuis quand pendant lorsque puisque donc qui que dont où avant après et"),
    pointing=listed(
        """
        ça cela ceci ce cet cette ces il elle ils elles lui leur toi te vous moi me nous tout rien quelque mon ma mes
        ton ta tes son sa ses notre votre comment quand quoi pas l'
        """
    ),
    auxiliaries=listed("ai as a avons ont suis es est sommes sont n' ne pas"),
    relations=RELATIONS,
    opening=listed("car donc puis alors oui non bonjour"),
    relatives={
        "femme": "married_to", "mari": "married_to", "sœur": "sister", "soeur": "sister", "frère": "brother",
        "mère": "mother", "père": "father", "fils": "son", "fille": "daughter", "chef": "reports_to", "ami": "friend",
        "amie": "friend",
    },
    being=frozenset({"est"}),
    owned="{word} de {owner} est {object}",
)  # fmt: skip
