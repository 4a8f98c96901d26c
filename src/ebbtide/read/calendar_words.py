"""The words for time in twelve languages, and which of them a text means."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

__all__ = ["CONTENT", "LONGEST_PHRASE", "Lexicon", "Meaning", "fold_word", "language_of", "lexicon", "saying_nothing"]

# Of each language the words for a kind, by comma where each has a value of its own, counted from 0; `_` joins a phrase.
# Accents are left out, since many leave them out. Month and weekday names are those of the Unicode CLDR, with the
# cases that "in" and "on" take beside them.
ENGLISH = {
    "month": "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,september sep sept,"
    "october oct,november nov,december dec",
    "weekday": "monday,tuesday tues,wednesday,thursday thurs,friday,saturday,sunday",
    "season": "spring springtime,summer summertime,autumn fall,winter wintertime",
    "unit": "day days,week weeks,month months,year years,weekend,quarter quarters,decade decades,hour hours,"
    "minute minutes,night",
    "number": "a an one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve",
    "couple": "couple_of a_couple_of",
    "few": "few a_few several",
    "ordinal": "first,second,third,fourth,fifth",
    "day": "day_before_yesterday the_day_before_yesterday,yesterday,today tonight this_morning this_afternoon "
    "this_evening,tomorrow,day_after_tomorrow the_day_after_tomorrow",
    "night": "last_night",
    "last": "last previous preceding",
    "past": "past",
    "this": "this current",
    "next": "next coming upcoming",
    "ago": "ago",
    "since": "since",
    "before": "before prior_to",
    "until": "until till by up_to",
    "after": "after following",
    "between": "between from",
    "and": "and",
    "to": "to through thru until till",
    "in": "in on during within throughout",
    "at": "at for around over about or",
    "every": "every each",
    "the": "the of s",
    "early": "early beginning_of the_beginning_of start_of the_start_of",
    "mid": "mid middle_of the_middle_of",
    "late": "late end_of the_end_of",
    "half": "first_half_of the_first_half_of,second_half_of the_second_half_of",
    "holiday": "christmas xmas,new_year_s_eve,halloween",
    "stop": "what which when did was were is are do does who how where why we i you he she they it with have has had "
    "my our his her their not there that these those will would can could should be been "
    "happened happen happening happens done doing say said says tell told talk talked talking discuss discussed "
    "going me us them him anything everything something",
}
GERMAN = {
    "month": "januar janner,februar,marz maerz,april,mai,juni,juli,august,september,oktober okt,november,dezember dez",
    "weekday": "montag,dienstag,mittwoch,donnerstag,freitag,samstag sonnabend,sonntag",
    "season": "fruhling fruhjahr,sommer,herbst,winter",
    "unit": "tag tage tagen,woche wochen,monat monate monaten monats,jahr jahre jahren jahres,wochenende,quartal,"
    "jahrzehnt,stunde stunden,minute minuten,nacht",
    "number": "ein eine einem einer einen,zwei,drei,vier,funf,sechs,sieben,acht,neun,zehn,elf,zwolf",
    "few": "ein_paar paar einigen",
    "ordinal": "erste ersten,zweite zweiten,dritte dritten,vierte vierten,funfte funften",
    "day": "vorgestern,gestern,heute,morgen,ubermorgen",
    "night": "letzte_nacht",
    "last": "letzte letzten letzter letztes letztem vergangene vergangenen vergangener vergangenes vergangenem "
    "vorige vorigen voriger voriges vorigem",
    "this": "diese diesen dieser dieses diesem",
    "next": "nachste nachsten nachster nachstes nachstem kommende kommenden kommender kommendes kommendem",
    "back": "vor",
    "since": "seit",
    "before": "vor",
    "until": "bis bis_zum",
    "after": "nach",
    "between": "zwischen von vom",
    "and": "und",
    "to": "bis bis_zum",
    "in": "in im am vom wahrend",
    "at": "um an zum zu fur uber",
    "every": "jeden jede jeder jedes",
    "the": "der die das dem den des",
    "early": "anfang",
    "mid": "mitte",
    "late": "ende",
    "holiday": "weihnachten,silvester,halloween",
    "stop": "und ist was wann wer wie wo warum wir ich du er sie es hat haben wurde wurden war waren nicht mit auf ein "
    "eine hier uns im am ging passierte passiert gab "
    "geschah gemacht getan los alles mich sich",
}
FRENCH = {
    "month": "janvier janv,fevrier fevr,mars,avril avr,mai,juin,juillet juil,aout,septembre,octobre,novembre,decembre",
    "weekday": "lundi,mardi,mercredi,jeudi,vendredi,samedi,dimanche",
    "season": "printemps,ete,automne,hiver",
    "unit": "jour jours,semaine semaines,mois,an ans annee annees,week_end weekend,trimestre,decennie,heure heures,"
    "minute minutes,nuit",
    "number": "un une,deux,trois,quatre,cinq,six,sept,huit,neuf,dix,onze,douze",
    "few": "quelques",
    "ordinal": "premier premiere,deuxieme,troisieme,quatrieme,cinquieme",
    "day": "avant_hier,hier,aujourd_hui,demain,apres_demain",
    "night": "nuit_derniere",
    "last": "dernier derniere derniers dernieres passe passee",
    "this": "ce cet cette",
    "next": "prochain prochaine prochains prochaines",
    "back": "il_y_a",
    "since": "depuis",
    "before": "avant",
    "until": "jusqu_en jusqu_a jusqu_au",
    "after": "apres",
    "between": "entre de du",
    "and": "et",
    "to": "a au",
    "in": "en au dans pendant durant courant l",
    "every": "chaque",
    "the": "le la les l de du d",
    "early": "debut",
    "mid": "mi",
    "late": "fin",
    "holiday": "noel,,halloween",
    "stop": "le la les de des du et est que qu qui quand comment pourquoi nous je tu il elle on a ce c pour avec pas "
    "une un sur avons fait quoi s d l ont etait j "
    "passe arrive est t",
}
SPANISH = {
    "month": "enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre setiembre,octubre,noviembre,diciembre",
    "weekday": "lunes,martes,miercoles,jueves,viernes,sabado,domingo",
    "season": "primavera,verano,otono,invierno",
    "unit": "dia dias,semana semanas,mes meses,ano anos,fin_de_semana,trimestre,decada,hora horas,minuto minutos,noche",
    "number": "un una,dos,tres,cuatro,cinco,seis,siete,ocho,nueve,diez,once,doce",
    "few": "unos unas",
    "ordinal": "primer primera primero,segundo segunda,tercer tercera,cuarto cuarta,quinto quinta",
    "day": "anteayer antes_de_ayer,ayer,hoy,manana,pasado_manana",
    "night": "anoche",
    "last": "pasado pasada pasados pasadas ultimo ultima ultimos ultimas anterior",
    "this": "este esta",
    "next": "proximo proxima proximos proximas que_viene siguiente",
    "back": "hace",
    "ago": "atras",
    "since": "desde",
    "before": "antes_de antes_del",
    "until": "hasta",
    "after": "despues_de despues_del tras",
    "between": "entre de del desde",
    "and": "y",
    "to": "a al hasta",
    "in": "en el durante",
    "at": "por para",
    "every": "cada",
    "the": "el la los las de del",
    "early": "principios_de comienzos_de inicios_de",
    "mid": "mediados_de",
    "late": "finales_de fines_de",
    "holiday": "navidad,nochevieja,halloween",
    "stop": "el la los las de del y es que quien cuando donde como por para con no una se lo hicimos fue paso al hubo "
    "hicieron hice hizo pasado todo",
}
ITALIAN = {
    "month": "gennaio,febbraio,marzo,aprile,maggio,giugno,luglio,agosto,settembre,ottobre,novembre,dicembre",
    "weekday": "lunedi,martedi,mercoledi,giovedi,venerdi,sabato,domenica",
    "season": "primavera,estate,autunno,inverno",
    "unit": "giorno giorni,settimana settimane,mese mesi,anno anni,fine_settimana weekend,trimestre,decennio,ora ore,"
    "minuto minuti,notte",
    "number": "un uno una,due,tre,quattro,cinque,sei,sette,otto,nove,dieci,undici,dodici",
    "few": "qualche alcuni alcune",
    "ordinal": "primo prima,secondo seconda,terzo terza,quarto quarta,quinto quinta",
    "day": "l_altro_ieri altro_ieri avantieri,ieri,oggi,domani,dopodomani",
    "night": "scorsa_notte",
    "last": "scorso scorsa scorsi scorse passato passata passati passate ultimo ultima ultimi ultime",
    "this": "questo questa quest",
    "next": "prossimo prossima prossimi prossime",
    "ago": "fa",
    "since": "da dal dall dalla",
    "before": "prima_di prima_del prima_dell prima_della",
    "until": "fino_a fino_al entro",
    "after": "dopo",
    "between": "tra fra da dal",
    "and": "e",
    "to": "a al",
    "in": "in a ad nel nell il durante lo l",
    "at": "per",
    "every": "ogni",
    "the": "il lo la l i gli le di del dell della",
    "early": "inizio",
    "mid": "meta",
    "late": "fine",
    "holiday": "natale,,halloween",
    "stop": "il lo la gli le di del e che cosa chi quando dove come perche per con non una si abbiamo fatto nel "
    "era sono successo accaduto ho ha hai tutto",
}
PORTUGUESE = {
    "month": "janeiro,fevereiro,marco,abril,maio,junho,julho,agosto,setembro,outubro,novembro,dezembro",
    "weekday": "segunda_feira segunda,terca_feira terca,quarta_feira quarta,quinta_feira quinta,sexta_feira sexta,"
    "sabado,domingo",
    "season": "primavera,verao,outono,inverno",
    "unit": "dia dias,semana semanas,mes meses,ano anos,fim_de_semana,trimestre,decada,hora horas,minuto minutos,noite",
    "number": "um uma,dois duas,tres,quatro,cinco,seis,sete,oito,nove,dez,onze,doze",
    "few": "alguns algumas",
    "ordinal": "primeiro primeira,segundo,terceiro terceira,quarto,quinto",
    "day": "anteontem,ontem,hoje,amanha,depois_de_amanha",
    "night": "ontem_a_noite",
    "last": "passado passada passados passadas ultimo ultima ultimos ultimas",
    "this": "este esta neste nesta deste desta esse essa nesse nessa",
    "next": "proximo proxima proximos proximas que_vem",
    "back": "ha faz",
    "ago": "atras",
    "since": "desde",
    "before": "antes_de antes_do antes_da",
    "until": "ate",
    "after": "depois_de depois_do depois_da apos",
    "between": "entre de do da",
    "and": "e",
    "to": "a ate",
    "in": "em no na durante",
    "at": "por para",
    "every": "cada",
    "the": "o a os as de do da dos",
    "early": "inicio_de inicio_do comeco_de",
    "mid": "meados_de",
    "late": "fim_de fim_do final_de final_do",
    "holiday": "natal,,halloween",
    "stop": "o a os as de do da e que quem quando onde como por para com nao uma um se em no na fizemos foi "
    "aconteceu houve fiz fez feito tudo",
}
DUTCH = {
    "month": "januari,februari,maart,april,mei,juni,juli,augustus,september,oktober okt,november,december",
    "weekday": "maandag,dinsdag,woensdag,donderdag,vrijdag,zaterdag,zondag",
    "season": "lente voorjaar,zomer,herfst najaar,winter",
    "unit": "dag dagen,week weken,maand maanden,jaar jaren,weekend weekeinde,kwartaal,decennium,uur uren,"
    "minuut minuten,nacht",
    "number": "een,twee,drie,vier,vijf,zes,zeven,acht,negen,tien,elf,twaalf",
    "few": "paar een_paar enkele",
    "ordinal": "eerste,tweede,derde,vierde,vijfde",
    "day": "eergisteren,gisteren,vandaag,morgen,overmorgen",
    "night": "vannacht",
    "last": "vorige vorig afgelopen laatste verleden",
    "this": "deze dit",
    "next": "volgende volgend komende komend",
    "ago": "geleden",
    "since": "sinds vanaf",
    "before": "voor",
    "until": "tot",
    "after": "na",
    "between": "tussen van",
    "and": "en",
    "to": "tot",
    "in": "in op tijdens van",
    "at": "om",
    "every": "elke iedere",
    "the": "de het van",
    "early": "begin",
    "mid": "midden medio",
    "late": "eind",
    "holiday": "kerstmis,,halloween",
    "stop": "de het een en is wat wie wanneer waar hoe waarom we wij ik je hij zij niet met op van hebben heeft deden "
    "gebeurde hier er waren ging gedaan gebeurd alles",
}
POLISH = {
    "month": "styczen stycznia styczniu,luty lutego lutym,marzec marca marcu,kwiecien kwietnia kwietniu,maj maja maju,"
    "czerwiec czerwca czerwcu,lipiec lipca lipcu,sierpien sierpnia sierpniu,wrzesien wrzesnia wrzesniu,"
    "pazdziernik pazdziernika pazdzierniku,listopad listopada listopadzie,grudzien grudnia grudniu",
    "weekday": "poniedziałek poniedziałku,wtorek wtorku,sroda srode srody,czwartek czwartku,piatek piatku,"
    "sobota sobote soboty,niedziela niedziele niedzieli",
    "season": "wiosna wiosne wiosny,lato latem,jesien jesienia jesieni,zima zime zimy",
    "unit": "dzien dni dniu dnia,tydzien tygodnie tygodni tygodniu tygodnia,miesiac miesiace miesiecy miesiacu "
    "miesiaca,rok roku lata lat,weekend,kwartał kwartale,dekada,godzina godzine godziny godzin,"
    "minuta minute minuty minut,noc",
    "one": "dzien,tydzien,miesiac,rok",
    "number": "jeden jedna jedno,dwa dwie,trzy,cztery,piec,szesc,siedem,osiem,dziewiec,dziesiec,jedenascie,dwanascie",
    "few": "kilka",
    "day": "przedwczoraj,wczoraj,dzisiaj dzis,jutro,pojutrze",
    "night": "zeszłej_nocy",
    "last": "zeszły zeszłym zeszłego zeszłej zeszła ubiegły ubiegłym ubiegłego ubiegłej poprzedni poprzednim "
    "ostatni ostatnim ostatnie ostatnich ostatniego ostatnia",
    "this": "tym tego tej biezacym",
    "next": "przyszły przyszłym przyszłego przyszłej nastepny nastepnym nastepnego",
    "ago": "temu",
    "since": "od",
    "before": "przed",
    "until": "do",
    "after": "po",
    "between": "miedzy pomiedzy od",
    "and": "a i",
    "to": "do",
    "in": "w we na",
    "every": "kazdy kazda",
    "early": "poczatku poczatek",
    "mid": "połowie",
    "late": "koncu koniec",
    "holiday": ",,halloween",
    "stop": "co kto kiedy gdzie jak dlaczego my ja nie z w na do sie jest było zrobilismy robilismy i o czy stało",
}
RUSSIAN = {
    "month": "январь января январе,февраль февраля феврале,март марта марте,апрель апреля апреле,май мая мае,"
    "июнь июня июне,июль июля июле,август августа августе,сентябрь сентября сентябре,октябрь октября октябре,"
    "ноябрь ноября ноябре,декабрь декабря декабре",
    "weekday": "понедельник понедельника,вторник вторника,среда среду среды,четверг четверга,пятница пятницу пятницы,"
    "суббота субботу субботы,воскресенье воскресенья",
    "season": "весна весной весны весну весне,лето летом лета,осень осенью осени,зима зимой зимы зиму зиме",
    "unit": "день дня дней дни,неделя недели недель неделе неделю,месяц месяца месяцев месяце,год года лет году,"
    "выходные выходных,квартал квартале,десятилетие,час часа часов,минута минуту минуты минут,ночь",
    "one": "день,неделю,месяц,год",
    "number": "один одну одна,два две,три,четыре,пять,шесть,семь,восемь,девять,десять,одиннадцать,двенадцать",
    "few": "несколько",
    "day": "позавчера,вчера,сегодня,завтра,послезавтра",
    "night": "прошлой_ночью",
    "last": "прошлый прошлая прошлое прошлые прошлой прошлом прошлого прошлую прошлых последний последние последних "
    "последнюю последнее предыдущем предыдущей",
    "this": "этот эта это эти этой этом этого эту этих",
    "next": "следующий следующая следующей следующем следующую следующего будущем будущего",
    "ago": "назад",
    "since": "с со",
    "before": "до перед",
    "until": "по",
    "after": "после",
    "between": "между с со",
    "and": "и",
    "to": "по до",
    "in": "в во на за",
    "every": "каждый каждую",
    "early": "начале",
    "mid": "середине",
    "late": "конце",
    "holiday": ",,хэллоуин",
    "stop": "что кто когда где как почему мы я ты он она не с в на и был была было были произошло сделали "
    "случилось делали делал сделал",
}
LANGUAGES: Mapping[str, Mapping[str, str]] = {
    "en": ENGLISH,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "it": ITALIAN,
    "pt": PORTUGUESE,
    "nl": DUTCH,
    "pl": POLISH,
    "ru": RUSSIAN,
}

# Also other words, in their own language or in others: they count in a text of their language and beside other words
# of time alone; those of English, as months, with a capital besides.
WEAK: Mapping[str, frozenset[str]] = {
    "en": frozenset({"may", "march", "mar", "jan", "fall", "spring"}),
    "de": frozenset({"mai", "dez", "winter"}),
    "fr": frozenset({"mars", "mai", "ete", "juil", "avr", "janv", "fevr"}),
    "es": frozenset({"mayo"}),
    "it": frozenset({"estate"}),
    "pt": frozenset({"marco", "segunda", "terca", "quarta", "quinta", "sexta", "natal"}),
    "nl": frozenset({"mei"}),
    "pl": frozenset({"marca", "maja", "maj", "lato"}),
    "ru": frozenset({"марта", "май", "мая", "лета"}),
}

# Kinds that mean time wherever they stand; the words of all others count in a text of their language alone.
CONTENT = frozenset({"month", "weekday", "season", "unit", "one", "day", "night", "holiday"})
# Kinds whose words only join the others.
SAYING_NOTHING = frozenset({"the", "in", "at", "and"})
# Words of a language that are a different, common word in another one.
FALSE_FRIENDS = frozenset(
    {"hier", "morgen", "manana", "tag", "tage", "an", "ora", "ore", "dia", "mes", "fin", "rok", "lat", "lata", "dni"}
)
# A year in French and an article in English, which would show time in most texts.
YEAR_OR_ARTICLE = "an"
LONGEST_PHRASE = 4
ACCENTS = re.compile("[\u0300-\u036f]")
FIRST_OF_DAYS = -2


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word says in one language: its kinds, each with a value, and whether it is another word too."""

    kinds: Mapping[str, int]
    weak: bool


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Phrases by their folded words, per language; the words that show time; of each language its words, and those of
    them that ask without saying about what.
    """

    meanings: dict[tuple[str, ...], dict[str, Meaning]] = field(
        default_factory=dict[tuple[str, ...], dict[str, Meaning]]
    )
    starts: set[str] = field(default_factory=set[str])
    telling: set[str] = field(default_factory=set[str])
    languages: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    asking: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def meaning(self, words: tuple[str, ...], language: str) -> Meaning | None:
        """What a phrase means in a text of the language; one of another language where nothing else is meant by it."""
        known = self.meanings.get(words)
        if known is None:
            return None
        if language in known:
            return known[language]
        if len(words) == 1 and words[0] in FALSE_FRIENDS:
            return None
        for meaning in known.values():
            if not meaning.weak and not CONTENT.isdisjoint(meaning.kinds):
                return Meaning({kind: meaning.kinds[kind] for kind in CONTENT & meaning.kinds.keys()}, False)
        return None


def fold_word(word: str) -> str:
    """A word without case and accents."""
    folded = word.casefold()
    return folded if folded.isascii() else ACCENTS.sub("", unicodedata.normalize("NFD", folded))


@cache
def lexicon() -> Lexicon:
    """All languages' words, made at the first query that may hold any."""
    made = Lexicon()
    for language, kinds in LANGUAGES.items():
        words = made.languages.setdefault(language, set())
        asking = made.asking[language] = set(map(fold_word, kinds["stop"].split()))
        words |= asking
        for kind, listed in kinds.items():
            if kind != "stop":
                for phrase, value in _entries(kind, listed):
                    _add(made, language, kind, phrase, value)
                    words.update(phrase)
                    if kind in SAYING_NOTHING:
                        asking.update(phrase)
    return made


def _entries(kind: str, listed: str) -> Iterable[tuple[tuple[str, ...], int]]:
    """The phrases of one kind with their values."""
    first = {"number": 1, "month": 1, "ordinal": 1, "day": FIRST_OF_DAYS}.get(kind, 0)
    for value, alternatives in enumerate(listed.split(","), first):
        for phrase in alternatives.split():
            yield tuple(fold_word(word) for word in phrase.split("_")), value


def _add(made: Lexicon, language: str, kind: str, phrase: tuple[str, ...], value: int) -> None:
    meanings = made.meanings.setdefault(phrase, {})
    known: Mapping[str, int] = meanings[language].kinds if language in meanings else {}
    weak = len(phrase) == 1 and phrase[0] in WEAK.get(language, ())
    meanings[language] = Meaning({**known, kind: value}, weak)
    made.starts.add(phrase[0])
    if kind in CONTENT and phrase != (YEAR_OR_ARTICLE,):
        made.telling.add(phrase[-1])


def saying_nothing(language: str) -> set[str]:
    """The folded words of a language that ask without saying about what: its question words, auxiliaries, pronouns,
    articles and prepositions, and verbs such as "do" and "happen".
    """
    return lexicon().asking[language]


def language_of(words: Sequence[str]) -> str:
    """The language most of the folded words belong to; the earlier listed one of two that are equal."""
    known = lexicon().languages
    return max(known, key=lambda language: sum(word in known[language] for word in words))
