"""The words and phrases of Spanish."""

from __future__ import annotations

from ebbtide.write.extract.relation import CRITICAL, PERSONAL, PREFERENCE, PROFESSIONAL, Language, Relation
from ebbtide.write.extract.word_list import listed

__all__ = ["SPANISH"]

MOVED_TO = Relation("lives_in", "PLACE", "se mudó a", 0.75, PERSONAL, tense="began", first="me mudé a",
                    third="se mudó a")  # fmt: skip
RELATIONS = (
    Relation("works_at", "COMPANY", "trabaja en", 0.8, PROFESSIONAL, first="trabajo en|trabajo para",
             third="trabaja en|trabaja para", plural="trabajan en"),
    Relation("worked_at", "COMPANY", "trabajaba en", 0.8, PROFESSIONAL, tense="over",
             first="trabajaba en|trabajé en", third="trabajaba en|trabajó en"),
    Relation("worked_at", "COMPANY", "ya no trabaja en", 0.8, PROFESSIONAL, tense="over", first="ya no trabajo en",
             third="ya no trabaja en"),
    Relation("lives_in", "PLACE", "vive en", 0.9, PERSONAL, first="vivo en", third="vive en", plural="viven en"),
    Relation("lived_in", "PLACE", "vivía en", 0.85, PERSONAL, tense="over", first="vivía en|viví en",
             third="vivía en|vivió en"),
    Relation("lived_in", "PLACE", "ya no vive en", 0.85, PERSONAL, tense="over", first="ya no vivo en",
             third="ya no vive en"),
    MOVED_TO,
    Relation("lived_in", "PLACE", "vivía en", 0.75, PERSONAL, tense="over", joint="a", destination=MOVED_TO,
             first="me mudé de", third="se mudó de"),
    Relation("married_to", "PERSON", "está casada con", 0.9, PERSONAL, first="estoy casada con",
             third="está casada con"),
    Relation("married_to", "PERSON", "está casado con", 0.9, PERSONAL, first="estoy casado con",
             third="está casado con"),
    Relation("born_in", "PLACE", "nació en", 0.95, PERSONAL, tense="always", first="nací en", third="nació en"),
    Relation("allergic_to", "anything", "es alérgica a", 0.95, CRITICAL, first="soy alérgica a", third="es alérgica a"),
    Relation("allergic_to", "anything", "es alérgico a", 0.95, CRITICAL, first="soy alérgico a", third="es alérgico a"),
    Relation("dislikes", "anything", "odia", 0.85, PREFERENCE, first="odio", third="odia", kind="preference"),
    Relation("prefers", "anything", "prefiere", 0.9, PREFERENCE, first="prefiero", third="prefiere",
             kind="preference"),
)  # fmt: skip

SPANISH = Language(
    code="es",
    i=frozenset({"yo"}),
    we=frozenset({"nosotros"}),
    my=frozenset({"mi"}),
    adverbs=listed("ahora actualmente también siempre realmente"),
    having=frozenset(),
    both=frozenset({"ellos", "ellas", "se"}),
    splitting=listed("divorció divorciaron divorciado divorciada separó separaron hasta murió dejó"),
    leaving=listed("dejó dejé renunció renuncié hasta volvió volví"),
    moving=listed("mudó mudé mudaron mudamos"),
    doubting=listed(
        """
        si quizás quizá tal acaso probablemente posiblemente supuestamente aparentemente parece según imagina imagine
        supongamos supongo dice dicen dijo dijeron cree creo creía piensa pienso pensaba espero espera oí rumor soñé
        ejemplo hipotéticamente ojalá quisiera querría podría sería pregunta falso que
        """
    ),
    leading=listed("cuando antes después mientras casi apenas"),
    denying=listed("no nunca jamás nadie ningún ninguna tampoco ni"),
    asking=listed("quién qué cuándo dónde cómo cuál cuáles cuánto ¿"),
    articles=listed("el la los las"),
    joining=frozenset({"y", "e"}),
    ending=listed("porque pero pues desde cuando mientras aunque que quien donde como antes después y e"),
    pointing=listed(
        """
        eso esto ese esa este esta ello lo él ella ellos ellas te ti usted me mí nos todo nada algo mi mis tu tus su sus
        nuestro nuestra cómo cuando qué no
        """
    ),
    auxiliaries=listed("he has ha hemos han soy eres es somos son estoy está están no"),
    relations=RELATIONS,
    opening=listed("pues luego entonces sí no hola además"),
    relatives={
        "esposa": "married_to", "esposo": "married_to", "marido": "married_to", "hermana": "sister",
        "hermano": "brother", "madre": "mother", "padre": "father", "hijo": "son", "hija": "daughter",
        "jefe": "reports_to", "jefa": "reports_to", "amigo": "friend", "amiga": "friend",
    },
    being=frozenset({"es"}),
    owned="{word} de {owner} es {object}",
    drops_i=True,
    called_words=frozenset({"llama"}),
    called="se llama",
)  # fmt: skip
