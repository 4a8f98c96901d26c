"""The words by which names are told from other words, and what kind of name they are."""

from __future__ import annotations

from ebbtide.write.extract.word_list import listed, listed_phrases

__all__ = [
    "COMPANY_ENDINGS", "CONNECTORS", "EVENT_WORDS", "GREETINGS", "NO_NAMES", "ORGANISATION_WORDS", "PERSON_NOUNS",
    "PERSON_VERBS", "PLACE_PHRASES", "PLACE_WORDS", "PROJECT_WORDS", "TEAM_WORDS", "TITLES",
]  # fmt: skip

TITLES = listed(
    """
    mr mr. mrs mrs. ms ms. dr dr. prof prof. professor sir madam hr. fr. herr frau mme mme. mlle mlle. monsieur madame
    mademoiselle señor señora sr. sra. sra don doña drs. captain sergeant patient client customer caller guest tenant
    aunt uncle grandma grandpa
    """
)
COMPANY_ENDINGS = listed(
    """
    inc inc. ltd ltd. llc corp corp. corporation gmbh ag plc co. company s.a. sa sl kg se oy ab bv nv llp kgaa sarl spa
    """
)
ORGANISATION_WORDS = listed(
    """
    university bank college institute hospital school foundation agency association labs laboratories studios airlines
    airways university's academy council ministry union federation society clinic pharmaceuticals motors technologies
    systems solutions consulting ventures capital holdings industries universität hochschule université universidad
    instituto banco
    """
)
PLACE_WORDS = listed(
    """
    city river lake mount mountain mountains street avenue park beach island islands bay valley county airport square
    coast peninsula desert canyon falls forest hills village straße strasse platz
    """
)
EVENT_WORDS = listed(
    """
    festival conference summit marathon olympics cup championship championships parade expo fair convention hackathon
    workshop tournament
    """
)
PROJECT_WORDS = listed(
    """
    project initiative programme program projekt projet proyecto
    """
)
TEAM_WORDS = listed(
    """
    team club band committee group squad guild party choir orchestra league
    """
)
CONNECTORS = listed(
    """
    of de van von der den da di del la le du dos bin al &
    """
)

# Verbs that hardly anything but a person does.
PERSON_VERBS = listed(
    """
    told asked loves hates enjoys thinks feels married graduated laughed smiled cried cooks sings dances hugged texted
    emailed whispered prefers lives admitted apologized apologised complained joked promised sighed visited wrote speaks
    studies
    """
)
GREETINGS = listed(
    """
    hey hi hello thanks bye goodbye congrats congratulations dear welcome cheers hallo hola bonjour salut danke gracias
    merci servus ciao
    """
)
PERSON_NOUNS = listed(
    """
    friend friends girlfriend boyfriend wife husband partner sister brother mother father mom mum dad son daughter boss
    manager supervisor colleague coworker co-worker teammate roommate flatmate neighbor neighbour cousin niece nephew
    aunt uncle grandmother grandfather grandma grandpa fiancé fiancée fiance fiancee mentor teacher doctor therapist
    dentist coach ceo cto cfo founder engineer designer girl boy man woman guy lady person
    """
)
# Words that lead to a place: each verb or noun with what stands between it and the name.
PLACE_PHRASES = listed_phrases(
    """
    live in | lives in | lived in | living in | born in | raised in | grew up in | based in | trip to | travel to |
    traveled to | travelled to | travelling to | traveling to | flight to | flew to | fly to | flying to | drove to |
    driving to | vacation in | holiday in | holidays in | arrived in | landed in | stayed in | staying in | reside in |
    resides in | move to | moving to | headquartered in | located in | situated in | office in | offices in | apartment
    in | house in | city of | town of | capital of | village of | state of | roadtrip to | trips to | visit to | train
    to | bus to | embassy in | emigrated to | immigrated to | conference in | retreat in | weekend in | summer in |
    winter in | wohnt in | wohne in | lebt in | lebe in | habite à | vit à | vive en | vivo en | suburb of | outskirts
    of | outside of | downtown
    """
)  # fmt: skip
# What is capitalised at the beginning of a sentence or by habit and names nobody.
NO_NAMES = listed(
    """
    meine meinen meiner wohnt wohne lebt arbeitet arbeite kommt vive vivo trabaja trabajo prefiero prefiere dicen
    miete untermiete frieden angst armut scheidung wg eigentum schwester bruder mutter vater sohn tochter mann chef
    chefin freundin freund kollege kollegin nacht regen hause versehen spaß langeweile zufall geld soy estoy me vivimos
    i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs this that
    these those who whom whose what which when where why how somebody someone something nobody none nothing everybody
    everyone everything anybody anyone anything all both each every either neither any some many much more most few
    several other others another such same one two three four five six seven eight nine ten first second third last next
    the a an and or but nor so yet for if because since although though while whereas unless until once as than then
    thus hence therefore however moreover also besides still just only even ever never always often sometimes usually
    rarely maybe perhaps probably possibly actually really truly honestly frankly basically literally definitely
    certainly surely clearly obviously apparently hopefully luckily fortunately unfortunately sadly anyway anyways
    meanwhile today tomorrow yesterday tonight now later soon recently lately currently finally eventually before after
    during with without within in on at by from to into onto of off over under about above below between among through
    across against around toward towards up down out near per via like unlike despite except do does did done is am are
    was were be been being has have had having can could may might must shall should will would let lets please yes yeah
    yep yup no nope nah not ok okay oh ah aw aww wow whoa woah ooh hmm hm huh haha lol hey hi hello thanks thank bye
    goodbye congrats congratulations sorry sure great good nice cool awesome amazing wonderful fantastic perfect lovely
    beautiful right wrong true false well alright absolutely totally exactly indeed fine glad happy sad excited super
    very too here there look looks looking sounds sound seems seem got get gets getting going go goes went come came
    coming see saw take took taking make made making give gave keep kept know knew think thought want wanted need needed
    love loved hate hated enjoy enjoyed hope hoped remember imagine tell told say said says ask asked try tried trying
    use used using work works worked working call called talk talking check feel feels feeling felt hear heard guess
    wish bet wait stop start started stay note update important reminder warning question answer summary subject hint
    tip example title date time user assistant system bot agent human customer everyone's mom mum dad mother father
    grandma grandpa sis bro dude guys folks man god gosh jesus christmas easter halloween thanksgiving monday tuesday
    wednesday thursday friday saturday sunday january february march april june july august september october november
    december jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun pm tv pc asap fyi
    diy omg btw imo imho ai api url faq id pdf cv ceo cto cfo hr pr qa ui ux gps usb dna lgbtq lgbt lgbtq+ nsfw vip rsvp
    p.s ps utc gmt cet est pst gb mb kb tb ram cpu gpu os ios sms vpn dns http https json xml html css tls mondays
    tuesdays wednesdays thursdays fridays saturdays sundays english german french spanish italian portuguese dutch
    swedish danish norwegian finnish polish turkish greek irish scottish welsh swiss austrian belgian czech thai
    vietnamese catholic muslim jewish hindu buddhist protestant
    russian chinese japanese korean arabic american british canadian european african asian indian mexican ich du er sie
    es wir ihr mein dein sein unser der die das den dem des ein eine einen einem einer kein keine und oder aber wenn
    falls weil dass ob ja nein nicht heute gestern morgen jetzt hier dort auch noch schon sehr mit ohne von zu aus bei
    nach seit für wie wer wo wann warum herr frau montag dienstag mittwoch donnerstag freitag samstag sonntag januar
    februar märz mai juni juli oktober dezember je tu il elle nous vous ils elles ma mes ton ta tes son sa ses notre
    votre leur le la les un une et ou mais si que qui quoi où quand comment pourquoi oui non pas aujourd'hui demain
    maintenant ici avec sans dans chez sur sous pour par lundi mardi mercredi jeudi vendredi samedi dimanche yo tú él
    ella nosotros ustedes ellos ellas mi mis tus su sus nuestro el los las una unos unas y o pero quien qué quién dónde
    cuándo cómo sí hoy ayer mañana ahora aquí con sin en de para por lunes martes miércoles jueves viernes sábado
    domingo
    """
)
