"""Word lists for telling things apart: whose, which and how many, and what is said of any thing."""

from __future__ import annotations

__all__ = [
    "ALTERNATIVES",
    "FREQUENCIES",
    "GRAMMAR",
    "KIN",
    "LABELS",
    "OPENERS",
    "ORDINALS",
    "POSSESSIVES",
    "PROPERTIES",
    "TITLES",
    "UNITS",
    "VERBS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Nouns that a number follows to tell one thing of many from the others.
LABELS = _words(
    """
    room floor gate platform line bus tram route building block unit apartment flat node server host rack ticket case
    order invoice issue version release chapter section step phase stage plot chamber exp experiment run batch lot
    error code model type series team group class grade level lane bay dock desk table seat pump tank sensor printer
    chapter volume part no nr track pool zone site store branch depot warehouse raum zimmer gleis linie gebäude haus
    fehler bestellung rechnung abschnitt kapitel stufe klasse gruppe maschine halle salle chambre étage ligne quai
    erreur commande facture bâtiment étape classe groupe sala habitación piso línea andén error pedido factura
    edificio etapa clase grupo aula stanza binario
    """
)

# Words of properties that have one value at a time, by property: two statements on one of them speak of the same thing.
PROPERTIES = tuple(
    map(
        _words,
        (
            """
    live lives living lived reside resides resident home address moved moving relocated based wohnt wohne wohnen lebt
    leben umgezogen zog gezogen adresse habite habitent vit réside déménagé domicile vive viven reside mudó mudado
    trasladó domicilio abita trasferito trasferita mora mudou woont verhuisd живет живёт переехал переехала mieszka
    """,
            """
    work works working worked job employer employed joined joins hired employee company career arbeitet arbeite
    arbeiten stelle arbeitgeber angestellt travaille travaillent emploi employeur poste trabaja trabajan empleo
    empleador puesto lavora lavoro trabalha werkt baan работает pracuje
    """,
            """
    price cost costs priced fee rent rate charge charges tariff preis kostet kosten gebühr miete prix coûte loyer
    tarif precio cuesta alquiler tarifa costa prezzo affitto preço custa prijs kost huur
    """,
            """
    deadline due frist abgabe échéance délai plazo vencimiento scadenza prazo
    """,
            """
    phone number telephone mobile telefonnummer nummer handynummer téléphone numéro teléfono número telefono numero
    """,
            """
    lead leads leader head manager chief director ceo cto owner leiter leitet leiterin chef cheffe dirige responsable
    director directora jefe jefa lidera capo
    """,
        ),
    )
)

# Kin and companions: what one text says of somebody's, the other does not say of that somebody.
KIN = _words(
    """
    sister brother mother father mum mom dad wife husband son daughter partner cousin uncle aunt nephew niece
    grandmother grandfather friend colleague neighbour neighbor boss roommate flatmate girlfriend boyfriend fiancé
    fiancée ex schwester bruder mutter vater frau mann sohn tochter freund freundin kollege kollegin nachbar nachbarin
    sœur soeur frère mère père femme mari fils fille ami amie collègue voisin voisine hermana hermano madre padre
    esposa marido hijo hija amigo amiga colega vecino vecina prima primo sorella fratello moglie marito figlio figlia
    irmã irmão
    zus broer moeder vrouw zoon dochter vriendin syster mamma pappa dotter søster
    сестра брат мать отец мама папа жена муж сын дочь друг подруга siostra brat matka ojciec żona mąż syn córka
    """
)

# Verbs that commonly follow a subject, by which it is found.
VERBS = _words(
    """
    is are was were has have had isn't aren't wasn't lives lived works worked costs starts begins takes runs uses
    drives speaks likes prefers drinks eats plays goes stays wants needs moved moves switched changed opens closes
    leaves arrives meets handles owns leads keeps sits belongs expires ends teaches studies doesn't hasn't won't will
    can cannot can't now no ist sind war waren hat haben wohnt lebt arbeitet kostet beginnt öffnet schließt schliesst
    mag trinkt isst fährt nutzt zieht leitet läuft est sont était a ont habite vit travaille coûte commence ouvre
    ferme aime boit mange dirige es son era está están tiene vive trabaja cuesta empieza abre cierra bebe come è sono
    ha abita lavora costa apre chiude não mora trabalha custa woont werkt kost cost live work open close eat drink
    play hält findet gilt liegt steht lautet kommt geht spielt bekommt lands serves ships sells covers accepts holds
    contains requires supports means lasts finishes appears se joue dort reçoit vend prend doit juega duerme vende
    dura gioca dorme fica joga fecha tem tinha staat ligt heeft zit speelt gebruikt opent sluit är har bor ligger
    jobbar kostar öppnar stänger spelar åpner koster jest są mieszka pracuje kosztuje otwiera находится живёт живет
    работает стоит открывается закрывается играет ест пьёт пьет имеет является проходит начинается
    """
)

# What opens a sentence before its subject.
OPENERS = _words(
    """
    since after following because from with in on at as for by due until till before during when while to of under
    over without despite given wegen nach seit ab für fur mit von zu auf bei bis während trotz im am zum zur um depuis
    après à dès pour avec dans en sur pendant avant selon malgré desde después tras para con durante antes según hasta
    da dopo per durante dal dalla após vanaf sinds na voor met
    """
)

# Whose a thing is, by a word that stands for who was named before.
POSSESSIVES = _words(
    """
    his her its their sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer sa ses leur leurs su sus suo sua suoi
    sue seu seus suas zijn haar hun sitt sina deras hans hennes его её их jego jej
    """
)

# What stands before names.
TITLES = _words(
    "mr mrs ms miss dr doctor doktor docteur docteure dottore dottoressa herr frau monsieur madame señor señora signor"
)

# What figures are of, in any statement.
UNITS = _words(
    """
    euro euros eur dollar dollars usd franc francs franken chf pound pounds cent cents percent prozent pour percentage
    uhr o'clock am pm utc gmt hour hours minute minutes second seconds day days week weeks month months year years
    stunde stunden minute minuten tag tage tagen woche wochen monat monate monaten monat jahr jahre jahren heure
    heures jour jours semaine semaines mois an ans année hora horas minuto minutos día días semana semanas mes meses
    año años ora ore giorno giorni settimana settimane mese mesi anno anni dia dias mês ano anos uur dag dagen maand
    maanden jaar metre metres meter meters kilometre kilometres kilometer kilo kilos gram grams litre litres liter
    tonne tonnes degrees
    """
)

# How often something is, which makes no other thing of it.
FREQUENCIES = _words(
    "daily weekly monthly quarterly yearly annual every each regular usual current old older next last"
)

# Which of several something is.
ORDINALS = _words("first second third fourth fifth sixth seventh eighth ninth tenth")

# Words that set one thing of several apart from the others.
ALTERNATIVES = tuple(
    map(
        _words,
        (
            "production staging development sandbox test prod",
            "desktop mobile web android ios",
            "north south east west",
            "left right",
            "upper lower",
            "adults children kids seniors students",
            "erwachsene kinder senioren studenten",
            "adultes enfants",
            "adultos niños",
            "summer winter spring autumn",
            "sommer winter frühling herbst",
            "inbound outbound",
            "men women girls boys",
            "men's women's girls boys",
            "incoming outgoing",
        ),
    )
)

# What is only grammar, in languages whose commonest words are not known otherwise.
GRAMMAR = _words(
    """
    het een op om naar bij van voor met door uit aan te dat die er ook il lo i gli un uno una di da con su per tra fra
    del della dello dei degli delle al allo alla ai agli alle dal dalla nel nella sul sulla è sono che si o os as um
    uma do da dos das em no na nos nas por às à pelo pela para com ao au aux du chez ce cette på till av från som ett
    den det в на с к по из у и от для за w z do od po о
    """
)
