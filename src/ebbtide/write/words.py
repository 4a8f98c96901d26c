"""Word lists for comparing texts: what denies, what opposes what, what counts, and what is only grammar."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "ANTONYMS",
    "AUXILIARIES",
    "COMPARING",
    "DAYS",
    "DAYS_AND_NUMBERS",
    "FORMER",
    "FORMER_UNSPACED",
    "FRENCH_PARTICLES",
    "FUNCTION_WORDS",
    "IRREGULAR",
    "LASTING",
    "MULTI_VALUED",
    "NEGATIONS",
    "OPPOSITE_PREFIXES",
    "PARTICLES",
    "PAST_AUXILIARIES",
    "PAST_STATES",
    "SMALL_TALK",
    "UNTIL",
    "USED",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    parts = (pair.partition("/") for pair in text.split())
    return tuple((first, second) for first, _, second in parts)


NEGATIONS = _words(
    """
    not no never none nobody nothing nowhere neither nor without lack lacks lacked lacking cannot
    hardly barely nicht nie niemals niemand
    nichts ohne weder nirgends kein keine keinen keinem keiner keines nein nunca jamás jamas nadie nada ninguno
    ninguna ningún ningun sin tampoco ne pas jamais rien aucun aucune sans non não nao nem niet geen nooit inte
    aldrig ikke aldri не нет никогда لا ليس لم 不 没 沒 未 無 无
    """
)

FRENCH_PARTICLES = frozenset({"ne"})

AUXILIARIES = _words(
    """
    a an the this that these those do does did done doing be am is are was were been being has have had will would
    shall should can could might must ca wo ai and very really also just still any some it its there all always
    every everyone everybody everything ever yet longer anymore one ones der die das den dem des ein eine einen
    einem einer eines ist sind war waren hat habe haben hatte wird und immer mehr alle el la los las un una unos
    unas es son era fue ha han y siempre ya le les du des l'on est sont était a ont et toujours plus l d
    """
)

PARTICLES = _words(
    """
    in on at of to for with by from as so then than into onto about over up down off out im am an auf mit von zu
    für fur en de con por para à au aux dan sur pour avec
    """
)

# Said of what was so once, which alone tells nothing of what is so now.
FORMER = (
    "used to", "formerly", "previously", "früher", "ehemals", "auparavant", "autrefois", "antes", "anteriormente",
    "un tempo", "antigamente", "vroeger", "tidigare", "tidligere", "раньше", "dawniej",
)  # fmt: skip
FORMER_UNSPACED = ("曾经", "曾經", "从前", "從前", "かつて", "以前は", "昔は", "예전에", "한때")
# Before "used to", what makes an instrument or a habit of it: "is used to seal pipes", "got used to it".
USED = _words("is are be am was were been being get gets got getting 's 're")
# Behind those, what makes a comparison or a date of them: "antes de las 9", "früher als".
COMPARING = _words("than als de del di da do que")
# Verbs of what lasts, in the past; in Romance languages in that form which says that it did.
PAST_STATES = _words(
    """
    lived worked resided wohnte wohnten lebte lebten arbeitete arbeiteten gewohnt gelebt gearbeitet habité vécu
    travaillé habitait habitaient vivait vivaient travaillait travaillaient vivía vivían trabajaba trabajaban abitava
    abitavano viveva vivevano lavorava lavoravano morava moravam vivia viviam trabalhava trabalhavam woonde woonden
    werkte werkten жил жила жили работал работала работали mieszkał mieszkała pracował pracowała
    """
)
# With the perfect or a beginning it lasts still: "has lived here since 2019".
LASTING = _words("has have having 've since seit depuis desde")
# Forms of "be" and "have" in the past, behind which "until" says when that ended.
PAST_AUXILIARIES = _words(
    "was were had war waren hatte hatten était étaient avait avaient era eran estaba estaban tenía tenían fue fueron"
    " erano aveva avevano eram tinha tinham waren had był była były был была были"
)
UNTIL = _words("until till bis jusqu'à jusqu'en jusqu'au hasta fino até tot tills indtil")

# What people say to each other about nothing.
SMALL_TALK = _words(
    """
    i me you us they them he him she mine yours ours theirs its who what when where which why how yes yeah yep nope ok
    okay oh ah wow hey hi hello bye thanks thank please sorry sure right well like know think guess feel say said tell
    told ask asked see saw look want wanted need needed try tried let get got getting gave give go going went gone
    come came make made take took keep kept use used good great nice cool awesome amazing pretty much many lot lots
    more most less something anything thing things stuff way two day days time times year years now then here too just
    about after before again back because but if or not i'm i've i'll i'd it's that's you're we're they're let's
    what's user assistant
    """
)

FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    "en": _words(
        """
        the and is are was were of to with for that this it he she they we you i my your his her their our not
        does did do has have will would at by from on as there every yesterday today tomorrow
        """
    ),
    "de": _words(
        """
        der die das und ist sind war waren nicht kein keine keinen ein eine einen ich du er sie wir ihr mein dein
        sein mit für von zu auf dem den im am wird hat haben auch gestern heute morgen
        """
    ),
    "es": _words(
        """
        el la los las y es son era fue no un una de del en con por para que se su mi tu yo él ella nosotros está
        están ayer hoy mañana
        """
    ),
    "fr": _words(
        """
        le la les et est sont était ne pas un une de du des en avec pour que se sa son mon ton je tu il elle nous
        vous ils elles au aux dans sur hier demain
        """
    ),
}

DAYS = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december yesterday today tomorrow morning afternoon evening night noon midnight montag
    dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember gestern
    heute morgen lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto
    septiembre octubre noviembre diciembre ayer hoy mañana lundi mardi mercredi jeudi vendredi samedi dimanche janvier
    février mars avril juin juillet août octobre novembre décembre hier demain
    """
)

DAYS_AND_NUMBERS = DAYS | _words(
    """
    zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen
    half twice once double triple first second third fourth fifth sixth seventh eighth ninth tenth zwei drei vier fünf
    sechs sieben acht neun zehn elf zwölf hundert tausend dos tres cuatro cinco seis siete ocho nueve diez once doce
    cien mil deux trois quatre cinq sept huit neuf dix onze douze cent mille
    """
)

# Past tenses, and the present that each belongs to.
IRREGULAR: Mapping[str, str] = dict(
    _pairs(
        """
    ate/eat began/begin bought/buy broke/break brought/bring built/build came/come caught/catch chose/choose
    drank/drink drove/drive fell/fall felt/feel flew/fly forgot/forget found/find gave/give got/get grew/grow
    held/hold kept/keep knew/know left/leave lost/lose made/make met/meet paid/pay ran/run rode/ride said/say
    saw/see sent/send slept/sleep sold/sell spent/spend spoke/speak taught/teach thought/think told/tell took/take
    understood/understand went/go woke/wake won/win wore/wear wrote/write written/write gone/go eaten/eat
    """
    )
)

OPPOSITE_PREFIXES = ("un", "dis", "non", "in", "im", "ir", "il", "mis")

ANTONYMS = _pairs(
    """
    love/hate like/hate like/dislike love/dislike love/loathe love/detest like/detest enjoy/hate enjoy/dislike
    adore/hate prefer/avoid want/refuse open/closed open/close opened/closed up/down on/off in/out true/false
    enabled/disabled enable/disable allowed/forbidden allow/forbid allowed/prohibited permitted/forbidden
    permitted/prohibited allowed/banned required/optional mandatory/optional succeed/fail succeeded/failed
    success/failure successful/failed pass/fail passed/failed win/lose accept/reject accept/decline
    accepted/declined approve/reject approve/deny grant/deny confirm/deny start/stop begin/end begin/finish
    increase/decrease rise/fall rise/drop grow/shrink gain/lose more/less most/least more/fewer high/low
    higher/lower before/after early/late earlier/later cheap/expensive fast/slow faster/slower online/offline
    public/private present/absent full/empty married/divorced married/single guilty/innocent left/right join/leave
    arrive/leave buy/sell include/exclude correct/wrong right/wrong good/bad best/worst better/worse happy/sad
    healthy/sick healthy/ill awake/asleep alive/dead inside/outside above/below over/under near/far new/old
    young/old big/small large/small long/short tall/short strong/weak rich/poor same/different remember/forget
    keep/remove add/remove show/hide hot/cold warm/cold easy/hard easy/difficult safe/dangerous clean/dirty
    light/dark loud/quiet wet/dry hired/fired works/broken working/broken free/busy free/paid positive/negative
    optimistic/pessimistic can/cannot upgrade/downgrade import/export upload/download liebe/hasse liebt/hasst
    mag/hasst mag/hasse offen/geschlossen geöffnet/geschlossen an/aus wahr/falsch erlaubt/verboten richtig/falsch
    gut/schlecht heiß/kalt groß/klein aktiviert/deaktiviert amo/odio ama/odia encanta/odia gusta/odia
    abierto/cerrado abierta/cerrada verdadero/falso permitido/prohibido bueno/malo activado/desactivado
    aime/déteste adore/déteste aime/hait ouvert/fermé ouverte/fermée vrai/faux permis/interdit autorisé/interdit
    bon/mauvais activé/désactivé allumé/éteint allumée/éteinte encendido/apagado encendida/apagada caliente/frío
    eingeschaltet/ausgeschaltet angeschaltet/ausgeschaltet aperto/chiuso aperta/chiusa acceso/spento accesa/spenta
    permesso/vietato vero/falso attivato/disattivato adora/odia aberto/fechado aberta/fechada ligado/desligado
    ligada/desligada permitido/proibido adora/odeia gosta/odeia ativado/desativado open/gesloten open/dicht
    toegestaan/verboden houdt/haat 좋아한다/싫어한다 좋아합니다/싫어합니다 좋아해요/싫어해요 열려/닫혀 켜져/꺼져
    好/嫌 喜/讨 喜/討 爱/恨 愛/恨 愛/憎 开/关 開/關 開/閉 快/慢 速/遅 早/晚 早/遅 对/错 對/錯 好/坏 好/壞
    """
)

# Predicates and verbs that one subject may have many of at a time: another value is no contradiction.
MULTI_VALUED = _words(
    """
    like likes prefer prefers love loves enjoy enjoys dislike dislikes hate hates know knows speak speaks visit
    visits visited meet met have has own owns use uses want wants need needs read watched watches play plays
    attend attended mention mentions said says did does interest interests interested hobby hobbies skill skills
    language languages friend friends friend_of knows_person child children sibling siblings pet pets allergy
    allergies allergic_to diagnosed_with intolerant_of worked_at lived_in liked avoids used was_member_of
    was_married_to manages leads skilled_in speaks learning works_on studied_at founded sister brother son daughter
    cousin aunt uncle niece nephew grandmother grandfather roommate colleague mentor neighbour doctor coach teacher
    partner member_of related_to note notes event events tag tags mentions_of part_of contains includes
    """
)
