"""Word lists for finding updates: what says that something changed, was added, or is only thought of."""

from __future__ import annotations

__all__ = [
    "ADDED",
    "ADDED_UNSPACED",
    "AGAIN",
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
    "NO_ONE",
    "SO_FAR",
    "STOPPING",
    "SUPPOSED",
    "TOWARDS",
    "UNCERTAIN",
    "UNCERTAIN_UNSPACED",
    "UNCHANGED",
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
        sold the / sold my / sold our / erratum / i was wrong / was wrong about / i meant / scratch that / disregard /
        not true any more / out of date / outdated / stattdessen / ist * umgezogen / umgezogen / zog nach / gezogen /
        ist nach * gezogen / wurde verschoben / verschoben / verlegt / vorverlegt / geändert / hat sich geändert /
        wurde geändert / gewechselt / wechselte / wechselt zu / ersetzt / abgelöst / umgestellt / umgestiegen / erhöht
        / gesenkt / angehoben / verlängert / verkürzt / gekürzt / reduziert / umbenannt / abgeschafft / aufgehoben /
        doch nicht / hat gekündigt / verkauft / ab sofort / neuerdings / nunmehr / von nun an / plutôt que / a
        déménagé / ont déménagé / avons déménagé / déménagé à / a été déplacé / a été déplacée / déplacé au / déplacée
        au / est passé à / est passée à / sont passés à / passe désormais / a changé / ont changé / avons changé /
        changé de / remplacé / remplacée / remplace / reporté / reportée / avancé au / avancée au / décalé / décalée /
        augmenté / baissé / réduit à / prolongé / prolongée / rebaptisé / supprimé / a quitté / désormais / dorénavant
        / se mudó / se ha mudado / se mudaron / nos mudamos / se trasladó / se ha trasladado / trasladado a / se
        cambió / cambió a / cambió de / ha cambiado / han cambiado / hemos cambiado / cambiado a / pasó a / ha pasado
        a / pasa a ser / reemplazado / reemplaza / reemplazó / sustituido / sustituye / sustituyó / aplazado /
        aplazada / pospuesto / pospuesta / adelantado / adelantada / subió a / bajó a / ha subido / ha bajado /
        aumentado / reducido a / ampliado / dejó / ha dejado / dejaron / si è trasferito / si è trasferita / spostato
        / spostata / cambiato / cambiata / è passato / è passata / sostituito / sostituita / rinviato / rinviata /
        anticipato / anticipata / aumentato / ridotto / d'ora in poi / mudou / mudou-se / mudaram / passou a / passou
        para / substituído / substituída / adiado / adiada / antecipado / alterado / alterada / aumentou para / a
        partir de agora / verhuisd / verplaatst / gewijzigd / veranderd / vervangen / overgestapt / verhoogd /
        verlaagd / uitgesteld / voortaan / vanaf nu / flyttat / flyttade / ändrat / ändrades / ersatt / flyttet /
        переехал / переехала / переехали / перенесли / перенесен / перенесена / перенесён / изменился / изменилась /
        изменили / заменили / заменен / теперь / przeniesiono / przeniósł / przeprowadził / przeprowadziła / zmieniono
        / zmienił / zastąpiono / migrated * to / switched * to / converted * to / upgraded * to / renewed / took *
        over / a arrêté de / a cessé de / ont arrêté de / ha smesso di / hanno smesso di / parou de / deixou de /
        gestopt met / перестал / перестала / перестали / przestał / przestała / hört auf / hat aufgehört / haben
        aufgehört
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
    "이번만",
    "임시",
    "잠시",
)

# How a correction begins, before a colon or a dash.
ANNOUNCED = _words(
    """
    correction update updated corrected edit erratum change changed new korrektur berichtigung aktualisierung neu
    änderung correctif rectification changement nouveau corrección actualización cambio correzione aggiornamento
    correção atualização correctie wijziging rättelse исправление обновление korekta
    """
)

# What holds from some moment on; said of news as well as of changes.
HOLDS_NOW = _phrases(
    """
    actually / eigentlich / en fait / en realidad / now / nowadays / these
    days / currently / as of / from now on / starting / effective / new / recently / from * on / from * onwards /
    until further notice / for the time being / jetzt / nun / inzwischen / mittlerweile / derzeit / momentan / neu /
    neue / neuer / neues / aktuell / maintenant / à partir / actuellement / à compter / nouveau / nouvelle / nouvel /
    ahora / a partir / actualmente / nuevo / nueva / adesso / ora / a partire / da ora / attualmente / nuovo / nuova /
    agora / atualmente / novo / nova / nu / nieuw / nieuwe / сейчас / с этого / новый / новая / obecnie / teraz
    """
)

# Said of what was so until it was said, which alone tells nothing of what is so from then on.
SO_FAR = _phrases("until recently / bisher / jusqu'ici / hasta ahora / prima")

# Said of what may be and is not known to be.
SUPPOSED = _phrases(
    """
    if / might / could / maybe / perhaps / possibly / wenn / falls / könnte / könnten / würde / würden
    / vielleicht / peut-être / pourrait / quizás / tal vez / podría / forse / potrebbe / talvez / poderia / misschien
    / zou
    """
)

# Said of what was so before and is so still.
UNCHANGED = _phrases(
    """
    unchanged / as before / as always / as usual / still / stays / stay / remains / remain / continues / continue /
    nothing changed / the same / bleibt / bleiben / unverändert / weiterhin / wie bisher / wie immer / immer noch /
    reste / restent / inchangé / toujours / comme avant / sigue / siguen / como siempre / todavía / resta / ancora /
    come sempre / continua / como sempre / blijft / nog steeds / zoals altijd
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

# Behind "one more" and the like: another change of one thing, and no further thing.
AGAIN = _words("time times change update correction mal änderung fois changement vez veces cambio volta keer")

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
