"""Word lists for finding updates: what says that something changed, was added, or is only thought of."""

from __future__ import annotations

__all__ = [
    "ADDED",
    "ADDED_UNSPACED",
    "ANNOUNCED",
    "CHANGED",
    "CHANGED_UNSPACED",
    "CLAUSE_WORDS",
    "DATED",
    "ENDED",
    "FOR_A_WHILE",
    "FOR_A_WHILE_UNSPACED",
    "GIVEN_UP",
    "HOLDS_NOW",
    "HOLDS_NOW_UNSPACED",
    "KIN",
    "LABELS",
    "NO_ONE",
    "OPENERS",
    "PROPERTIES",
    "STOPPING",
    "TOWARDS",
    "UNCERTAIN",
    "UNCERTAIN_UNSPACED",
    "VERBS",
]


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """Phrases between slashes, each as its words; `*` stands for up to four words."""
    return tuple(tuple(phrase.split()) for phrase in text.split("/") if phrase.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What is over: what the clause names is no more, and nothing else is said to be.
ENDED = _phrases(
    """
    no longer / not * any more / not * anymore / n't * any more / n't * anymore / not * any longer / n't * any longer
    / never again / nicht mehr / kein * mehr / keine * mehr / keinen * mehr / keiner * mehr / keinem * mehr / ne *
    plus / ya no / non * più / não * mais / já não / niet meer / geen * meer / inte längre / ikke lenger / ikke
    længere / больше не / już nie
    """
)

# Verbs that end what the verb behind them names: "stopped selling", "quit smoking".
STOPPING = _words("stopped stops quit quits ceased ceases")

# Denials that stand before a noun, where no verb comes between.
NO_ONE = _words("kein keine keinen keiner keinem geen")

# Words at which a clause ends.
CLAUSE_WORDS = _words(
    """
    but and or because since after before due until when while so und oder aber sondern weil seit nachdem et ou mais
    car parce depuis y o pero sino porque desde e ma perché maar en omdat men och а и но потому ale i
    """
)

# Words behind what was, before what is.
TOWARDS = _words("to into nach zu auf à a para naar till til на do")

# What stood before comes next: "from X", "instead of X".
GIVEN_UP = _phrases(
    """
    instead of / in place of / moved from / moved * from / switched from / switched * from / migrated from / migrated
    * from / changed from / changed * from / converted from / converted * from / relocated from / statt / anstatt /
    anstelle / au lieu de / à la place de / en vez de / en lugar de / invece di / al posto di / em vez de / em lugar
    de / in plaats van / istället för / i stedet for / вместо / zamiast
    """
)

# What was is no more, or became something else.
CHANGED = (
    *ENDED,
    *GIVEN_UP,
    *_phrases(
        """
        instead / rather than before / moved to / moved into / moved away / moved out / moved on / moved back / was
        moved / were moved / has moved / have moved / been moved / moved house / has left / have left / left for / we
        left / quit / resigned / moved the / retired from / relocated / transferred to / switched to / switched over /
        has switched / have switched / migrated to / converted to / upgraded to / downgraded to / changed to / has
        changed / have changed / was changed / were changed / been changed / changed my mind / changed * to / replaced
        / replaces / been replaced / was replaced / superseded / supersedes / took over / takes over / taken over /
        rescheduled / postponed / brought forward / pushed back / pushed to / put off / delayed to / delayed until /
        renamed / now called / was cut / were cut / cut to / cut from / raised to / raised from / was raised / were
        raised / we raised / lowered to / lowered from / lowered the / was lowered / increased to / increased from /
        was increased / has increased / reduced to / reduced from / was reduced / decreased to / extended to /
        extended until / was extended / shortened to / dropped to / dropped from / went up to / went down to / up from
        / down from / rose to / fell to / doubled to / halved to / has been relaxed / was relaxed / were relaxed / was
        tightened / has been lifted / was lifted / was abolished / discontinued / deprecated / phased out / gave up /
        sold the / sold my / sold our / used to be / formerly / previously / until recently / erratum / i was wrong /
        was wrong about / i meant / scratch that / disregard / not true any more / out of date / outdated /
        stattdessen / ist * umgezogen / umgezogen / zog nach / gezogen / ist nach * gezogen / wurde verschoben /
        verschoben / verlegt / vorverlegt / geändert / hat sich geändert / wurde geändert / gewechselt / wechselte /
        wechselt zu / ersetzt / abgelöst / umgestellt / umgestiegen / erhöht / gesenkt / angehoben / verlängert /
        verkürzt / gekürzt / reduziert / umbenannt / abgeschafft / aufgehoben / ehemals / doch nicht / hat gekündigt /
        verkauft / ab sofort / neuerdings / nunmehr / von nun an / plutôt que / a déménagé / ont déménagé / avons
        déménagé / déménagé à / a été déplacé / a été déplacée / déplacé au / déplacée au / est passé à / est passée à
        / sont passés à / passe désormais / a changé / ont changé / avons changé / changé de / remplacé / remplacée /
        remplace / reporté / reportée / avancé au / avancée au / décalé / décalée / augmenté / baissé / réduit à /
        prolongé / prolongée / rebaptisé / supprimé / auparavant / autrefois / jusqu'ici / a quitté / désormais /
        dorénavant / se mudó / se ha mudado / se mudaron / nos mudamos / se trasladó / se ha trasladado / trasladado a
        / se cambió / cambió a / cambió de / ha cambiado / han cambiado / hemos cambiado / cambiado a / pasó a / ha
        pasado a / pasa a ser / reemplazado / reemplaza / reemplazó / sustituido / sustituye / sustituyó / aplazado /
        aplazada / pospuesto / pospuesta / adelantado / adelantada / subió a / bajó a / ha subido / ha bajado /
        aumentado / reducido a / ampliado / anteriormente / hasta ahora / dejó / ha dejado / dejaron / si è trasferito
        / si è trasferita / spostato / spostata / cambiato / cambiata / è passato / è passata / sostituito /
        sostituita / rinviato / rinviata / anticipato / anticipata / aumentato / ridotto / d'ora in poi / mudou /
        mudou-se / mudaram / passou a / passou para / substituído / substituída / adiado / adiada / antecipado /
        alterado / alterada / aumentou para / a partir de agora / verhuisd / verplaatst / gewijzigd / veranderd /
        vervangen / overgestapt / verhoogd / verlaagd / uitgesteld / voortaan / vanaf nu / flyttat / flyttade / ändrat
        / ändrades / ersatt / flyttet / переехал / переехала / переехали / перенесли / перенесен / перенесена /
        перенесён / изменился / изменилась / изменили / заменили / заменен / теперь / przeniesiono / przeniósł /
        przeprowadził / przeprowadziła / zmieniono / zmienił / zastąpiono / migrated * to / switched * to / converted
        * to / upgraded * to / renewed / took * over / a arrêté de / a cessé de / ont arrêté de / ha smesso di / hanno
        smesso di / parou de / deixou de / gestopt met / перестал / перестала / перестали / przestał / przestała /
        hört auf / hat aufgehört / haben aufgehört
        """
    ),
)

# What holds but for a while, so that what it departs from holds still.
FOR_A_WHILE = _phrases(
    """
    just this once / only this once / this once / this time only / only today / just today / for today / just for now
    / temporarily / exceptionally / as an exception / ausnahmsweise / diesmal / nur heute / vorübergehend /
    exceptionnellement / temporairement / provisoirement / excepcionalmente / temporalmente / solo hoy / por esta vez
    / eccezionalmente / temporaneamente / temporariamente / excepcionalmente / tijdelijk / bij uitzondering /
    tillfälligt / midlertidig / временно / tymczasowo
    """
)
FOR_A_WHILE_UNSPACED = (
    "这次",
    "這次",
    "暂时",
    "暫時",
    "临时",
    "臨時",
    "今回",
    "一時的",
    "臨時",
    "이번만",
    "임시",
    "잠시",
)

# How a correction begins, before a colon or a dash.
ANNOUNCED = _words(
    """
    correction update corrected edit erratum change changed new korrektur berichtigung aktualisierung neu änderung
    correctif rectification changement nouveau corrección actualización cambio correzione aggiornamento correção
    atualização correctie wijziging rättelse исправление обновление korekta
    """
)

# What holds from some moment on; said of news as well as of changes.
HOLDS_NOW = _phrases(
    """
    actually / früher / bisher / eigentlich / en fait / en realidad / now / nowadays / these days / currently / as of
    / from now on / starting / effective / new / recently / unchanged / as before / stays / remains / from * on / from
    * onwards / until further notice / for the time being / jetzt / nun / inzwischen / mittlerweile / derzeit /
    momentan / neu / neue / neuer / neues / aktuell / bleibt / unverändert / weiterhin / maintenant / à partir /
    actuellement / à compter / nouveau / nouvelle / nouvel / reste / inchangé / ahora / a partir / actualmente / nuevo
    / nueva / sigue / adesso / ora / a partire / da ora / attualmente / nuovo / nuova / agora / atualmente / novo /
    nova / nu / nieuw / nieuwe / сейчас / с этого / новый / новая / obecnie / teraz
    """
)

# Said of what holds from a moment on, where a day, a month or a figure follows.
DATED = _words("since from as starting effective until seit ab bis depuis dès desde hasta dal vanaf sinds od с")

# Where words are not set apart, parts of a text.
CHANGED_UNSPACED = (
    "不再",
    "改为",
    "改為",
    "改成",
    "改到",
    "改在",
    "换成",
    "換成",
    "换到",
    "搬到",
    "搬去",
    "搬家",
    "调整为",
    "調整為",
    "推迟到",
    "推遲到",
    "提前到",
    "更正",
    "更新:",
    "更新：",
    "取代",
    "代替",
    "而不是",
    "不用了",
    "辞职",
    "離職",
    "离职",
    "跳槽",
    "变成",
    "變成",
    "升到",
    "涨到",
    "降到",
    "已经不",
    "已經不",
    "に変更",
    "に変わ",
    "が変わ",
    "に移転",
    "に引っ越",
    "へ引っ越",
    "に移動",
    "に切り替え",
    "に乗り換え",
    "に置き換",
    "の代わりに",
    "ではなく",
    "ようになった",
    "なくなった",
    "はもう",
    "使わない",
    "やめた",
    "辞めた",
    "訂正",
    "転職",
    "延期",
    "繰り上げ",
    "値上げ",
    "値下げ",
    "더 이상",
    "변경",
    "이사",
    "옮겼",
    "바뀌",
    "바꿨",
    "대신",
    "정정",
)
HOLDS_NOW_UNSPACED = (
    "现在",
    "現在",
    "目前",
    "如今",
    "从今",
    "從今",
    "开始",
    "開始",
    "今は",
    "今では",
    "今後",
    "これから",
    "以降",
    "からは",
    "新しい",
    "最近",
    "이제",
    "지금",
    "부터",
)

# One more beside what is known.
ADDED = _phrases(
    """
    also / another / as well / too / additionally / in addition / besides / additional / one more / extra / auch /
    außerdem / ausserdem / zusätzlich / ein weiterer / eine weitere / ein weiteres / zudem / weitere / aussi /
    également / en plus / un autre / une autre / supplémentaire / también / además / otro / otra / adicional / anche /
    inoltre / un altro / un'altra / também / além / outro / outra / ook / bovendien / nog een / också / også / тоже /
    также / ещё / też / również
    """
)

# Said of what may be, is wished for or asked about.
UNCERTAIN = _phrases(
    """
    might / may be / may have / may move / may change / maybe / perhaps / possibly / could / would / if / whether /
    should / thinking of / thinking about / thinks about / considering / considers / considered / plans to / planning
    to / planned to / wanted to / hoped to / was going to / were going to / wants / want / would like / hopes to /
    hope to / wish / wishes / dreams of / proposed / proposes / suggested / suggests / rumour / rumor / rumours /
    rumors / undecided / asked / asks / wonders / tempted / almost / nearly / someday / one day / in case / unless /
    for now not / vielleicht / möglicherweise / könnte / könnten / würde / würden / wenn / falls / ob / sollte /
    überlegt / überlege / überlegen / planen / wollen / möchte / hofft / vorgeschlagen / unentschieden / fast /
    beinahe / peut-être / pourrait / pourraient / envisage / envisagent / veut / voudrait / souhaite / espère /
    propose / presque / quizás / quizá / tal vez / podría / podrían / piensa en / quiere / querría / espera / propone
    / casi / plantea / forse / potrebbe / vorrebbe / talvez / poderia / quer / misschien / zou / может / возможно /
    если / хочет / może / chce / jeśli
    """
)
UNCERTAIN_UNSPACED = (
    "也许",
    "也許",
    "可能",
    "考虑",
    "考慮",
    "打算",
    "想要",
    "如果",
    "かもしれない",
    "たい",
    "検討",
    "予定",
    "もし",
    "아마",
    "싶",
)
ADDED_UNSPACED = ("另外", "还有", "還有", "另一", "也", "他に", "もう一", "追加", "加えて", "또한", "추가")

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
