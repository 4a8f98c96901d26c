"""The words and phrases of English."""

from __future__ import annotations

from dataclasses import replace

from ebbtide.write.extract.relation import (
    CASUAL,
    CRITICAL,
    PERSONAL,
    PREFERENCE,
    PROFESSIONAL,
    Language,
    Relation,
)
from ebbtide.write.extract.word_list import listed

__all__ = ["ENGLISH"]

WORKED_AT = Relation(
    "worked_at", "COMPANY", "used to work at", 0.85, PROFESSIONAL, tense="over",
    first="worked at|was working at|was employed by|was employed at",
    third="worked at|was working at|was employed by|was employed at", plural="worked at",
    either="used to work at|used to work for",
)  # fmt: skip
WORKS_NO_LONGER_AT = replace(
    WORKED_AT, says="no longer works at", first="", third="", plural="",
    either="no longer work at|no longer works at|no longer work for|no longer works for|quit my job at"
    "|quit his job at|quit her job at|left my job at|left his job at|left her job at|resigned from"
    "|was fired from|was laid off from|retired from|stopped working at|stopped working for",
)  # fmt: skip
WORKS_AT = Relation(
    "works_at", "COMPANY", "works at", 0.9, PROFESSIONAL,
    first="work at|work for|'m working at|am working at|'m working for|am working for|'m employed by|am employed by"
    "|'m employed at|am employed at|work as an engineer at|work as a manager at|have a job at|'ve got a job at",
    third="works at|works for|is working at|'s working at|is working for|is employed by|is employed at|has a job at",
    plural="work at|work for|both work at|are working at|are employed by",
)  # fmt: skip
STILL_WORKS_AT = Relation(
    "works_at", "COMPANY", "works at", 0.85, PROFESSIONAL, lasting=frozenset({"since", "for"}),
    first="have worked at|'ve worked at|have been working at|'ve been working at",
    third="has worked at|'s worked at|has been working at|'s been working at", plural="have worked at",
)  # fmt: skip
JOINED = Relation(
    "works_at", "COMPANY", "", 0.85, PROFESSIONAL, tense="began",
    either="started working at|started working for|began working at|started work at|started a new job at"
    "|started a job at|got a job at|got a new job at|landed a job at|landed a new job at|took a job at|was hired by"
    "|got hired by|accepted a job at",
)  # fmt: skip
STARTED_AT = Relation(
    "works_at", "COMPANY", "started a job at", 0.85, PROFESSIONAL, tense="began",
    either="started my job at|started his job at|started her job at|started my new job at|started his new job at"
    "|started her new job at",
)  # fmt: skip
JOINED_CUE = Relation(
    "works_at", "COMPANY", "joined", 0.8, PROFESSIONAL, tense="began", either="joined", needs_cue=True
)
STILL_LIVES_IN = Relation(
    "lives_in", "PLACE", "lives in", 0.85, PERSONAL, lasting=frozenset({"since", "for"}),
    first="have lived in|'ve lived in|have been living in|'ve been living in",
    third="has lived in|'s lived in|has been living in|'s been living in", plural="have lived in",
)  # fmt: skip
LIVED_IN = Relation(
    "lived_in", "PLACE", "used to live in", 0.85, PERSONAL, tense="over",
    first="lived in|was living in", third="lived in|was living in", plural="lived in|were living in",
    either="used to live in|grew up in",
)  # fmt: skip
LIVES_NO_LONGER_IN = replace(
    LIVED_IN, says="no longer lives in", first="", third="", plural="",
    either="no longer live in|no longer lives in|stopped living in|moved away from|moved out of",
)  # fmt: skip
LIVES_IN = Relation(
    "lives_in", "PLACE", "lives in", 0.9, PERSONAL,
    first="live in|'m living in|am living in|'m based in|am based in|reside in|live near",
    third="lives in|is living in|'s living in|resides in", plural="live in|both live in|are living in|reside in",
)  # fmt: skip
MOVED_TO = Relation(
    "lives_in", "PLACE", "", 0.75, PERSONAL, tense="began",
    either="moved to|relocated to|moved back to|settled in|settled down in|moved over to|moved here to",
)  # fmt: skip
MOVED_THERE = replace(MOVED_TO, says="moved to")
MOVED_FROM = Relation(
    "lived_in", "PLACE", "used to live in", 0.75, PERSONAL, tense="over", joint="to", destination=MOVED_THERE,
    either="moved from|relocated from|moved here from|moved over from",
)  # fmt: skip
LEFT_FOR = Relation(
    "worked_at", "COMPANY", "used to work at", 0.8, PROFESSIONAL, tense="over", joint="for",
    destination=replace(JOINED, says="left for"),
    either="left", needs_cue=True,
)  # fmt: skip

PEOPLE = (
    Relation(
        "married_to", "PERSON", "is married to", 0.9, PERSONAL,
        first="'m married to|am married to", third="is married to|'s married to",
    ),
    Relation("married_to", "PERSON", "", 0.85, PERSONAL, either="got married to|married", tense="began"),
    Relation(
        "was_married_to", "PERSON", "used to be married to", 0.85, PERSONAL, tense="over",
        first="was married to", third="was married to", either="used to be married to",
    ),
    Relation(
        "was_married_to", "PERSON", "is no longer married to", 0.85, PERSONAL, tense="over",
        either="divorced|got divorced from",
    ),
    Relation(
        "engaged_to", "PERSON", "is engaged to", 0.9, PERSONAL,
        first="'m engaged to|am engaged to", third="is engaged to|'s engaged to",
    ),
    Relation(
        "manages", "name", "manages", 0.85, PROFESSIONAL, first="manage|'m managing|am managing|'m the manager of"
        "|am the manager of", third="manages|is managing|'s managing|is the manager of|supervises",
    ),
    Relation(
        "leads", "name", "leads", 0.85, PROFESSIONAL, first="lead|'m leading|am leading|'m the lead of|am in charge of"
        "|'m in charge of", third="leads|is leading|is in charge of|heads",
    ),
    Relation(
        "reports_to", "PERSON", "reports to", 0.9, PROFESSIONAL, first="report to|report directly to",
        third="reports to|reports directly to", plural="report to|both report to",
    ),
    Relation(
        "knows", "PERSON", "is friends with", 0.8, CASUAL, first="'m friends with|am friends with",
        third="is friends with|'s friends with",
    ),
)  # fmt: skip

GROUPS = (
    Relation(
        "member_of", "COMPANY", "is a member of", 0.85, PROFESSIONAL,
        first="'m a member of|am a member of", third="is a member of|'s a member of", plural="are members of",
    ),
    Relation("member_of", "COMPANY", "is a member of", 0.85, PROFESSIONAL, first="belong to", third="belongs to",
             needs_cue=True),
    Relation(
        "was_member_of", "COMPANY", "used to be a member of", 0.85, PROFESSIONAL, tense="over",
        either="was a member of|used to be a member of",
    ),
    Relation(
        "works_on", "PROJECT", "works on", 0.85, PROFESSIONAL, first="work on|'m working on|am working on",
        third="works on|is working on|'s working on", plural="work on|are working on",
    ),
    Relation(
        "studies_at", "COMPANY", "studies at", 0.9, PROFESSIONAL,
        first="study at|'m studying at|am studying at|go to school at|'m a student at|am a student at",
        third="studies at|is studying at|'s studying at|is a student at|is enrolled at",
        plural="study at|are studying at",
    ),
    Relation(
        "studied_at", "COMPANY", "studied at", 0.9, PROFESSIONAL, tense="over",
        either="studied at|graduated from|got my degree from|used to study at|dropped out of",
    ),
    Relation(
        "founded", "COMPANY", "founded", 0.85, PROFESSIONAL, tense="always",
        either="founded|co-founded|cofounded",
    ),
)  # fmt: skip

PLACES = (
    Relation(
        "located_in", "PLACE", "is located in", 0.9, PERSONAL, subject=None,
        third="is located in|is situated in|are located in",
    ),
    Relation(
        "located_in", "PLACE", "is located in", 0.85, PROFESSIONAL, subject="COMPANY",
        third="is headquartered in|has its headquarters in|has an office in|has offices in",
    ),
    Relation(
        "located_in", "PLACE", "is located in", 0.9, PERSONAL, subject="PLACE",
        third="is a city in|is a town in|is a village in|is the capital of|is a district of|is a suburb of"
        "|is a region of|is a region in|is a state of|is a country in|is a neighborhood of|is a neighbourhood of",
    ),
    Relation("part_of", "name", "is part of", 0.85, PROFESSIONAL, subject=None,
             third="is part of|is a part of|is a subsidiary of|is a division of"),
)  # fmt: skip

THINGS = (
    Relation(
        "owns", "thing", "owns", 0.85, PERSONAL, first="own", third="owns", plural="own",
    ),
    Relation("owns", "COMPANY", "owns", 0.85, PROFESSIONAL, subject=None, third="owns|acquired|has acquired",
             needs_cue=True),
    Relation("uses", "PRODUCT", "uses", 0.75, PROFESSIONAL, subject=None, first="use", third="uses|is using"),
    Relation("used", "PRODUCT", "used to use", 0.75, PROFESSIONAL, subject=None, tense="over",
             either="used to use"),
    Relation("used", "PRODUCT", "no longer uses", 0.75, PROFESSIONAL, subject=None, tense="over",
             either="no longer use|no longer uses|stopped using"),
    Relation(
        "skilled_in", "SKILL", "is skilled in", 0.85, PROFESSIONAL,
        first="'m skilled in|am skilled in|'m proficient in|am proficient in|'m an expert in|am an expert in"
        "|'m experienced in|am experienced in|'m experienced with|code in|program in|specialize in|specialise in"
        "|'m certified in|am certified in",
        third="is skilled in|'s skilled in|is proficient in|is an expert in|is experienced in|is experienced with"
        "|codes in|programs in|specializes in|specialises in|is certified in",
    ),
    Relation("speaks", "language", "speaks", 0.9, PERSONAL, first="speak|'m fluent in|am fluent in",
             third="speaks|is fluent in|'s fluent in", plural="speak|both speak"),
    Relation("learning", "SKILL", "is learning", 0.85, PERSONAL, first="'m learning|am learning",
             third="is learning|'s learning"),
)  # fmt: skip

LIFE = (
    Relation("born_in", "PLACE", "was born in", 0.95, PERSONAL, tense="always", first="was born in",
             third="was born in"),
    Relation("born_on", "date", "was born on", 0.95, PERSONAL, tense="always",
             first="was born on|was born in", third="was born on|was born in"),
    Relation("comes_from", "PLACE", "comes from", 0.85, PERSONAL, first="come from|'m originally from"
             "|am originally from", third="comes from|is originally from|'s originally from"),
    Relation("comes_from", "PLACE", "comes from", 0.85, PERSONAL, first="'m from|am from", third="is from|'s from",
             needs_cue=True),
    Relation(
        "allergic_to", "anything", "is allergic to", 0.95, CRITICAL,
        first="'m allergic to|am allergic to|have an allergy to|'m severely allergic to|am severely allergic to",
        third="is allergic to|'s allergic to|has an allergy to|is severely allergic to",
    ),
    Relation(
        "diagnosed_with", "anything", "was diagnosed with", 0.9, CRITICAL, tense="always",
        either="was diagnosed with|were diagnosed with|got diagnosed with"
        "|'ve been diagnosed with|have been diagnosed with"
        "|has been diagnosed with|suffer from|suffers from",
    ),
    Relation("intolerant_of", "anything", "is intolerant to", 0.9, CRITICAL, first="'m intolerant to|am intolerant to",
             third="is intolerant to"),
    Relation("has_name", "name", "is called", 0.9, PERSONAL, first="'m called|am called|go by"),
)  # fmt: skip

# The predicate, what "I" does, what somebody else does, and how the sentence says it.
TASTE_WORDS = (
    ("likes", "like|really like", "likes", "likes"),
    ("likes", "love|really love|absolutely love", "loves", "loves"),
    ("likes", "enjoy", "enjoys", "enjoys"),
    ("likes", "adore", "adores", "adores"),
    ("likes", "'m fond of|am fond of", "is fond of|'s fond of", "is fond of"),
    ("likes", "'m a fan of|am a fan of|'m a big fan of|am a big fan of|'m a huge fan of|am a huge fan of",
     "is a fan of|'s a fan of|is a big fan of|is a huge fan of", "is a fan of"),
    ("likes", "'m into|am into", "is into|'s into", "is into"),
    ("likes", "'m passionate about|am passionate about", "is passionate about|'s passionate about",
     "is passionate about"),
    ("likes", "'m obsessed with|am obsessed with", "is obsessed with|'s obsessed with", "is obsessed with"),
    ("dislikes", "hate", "hates", "hates"),
    ("dislikes", "dislike", "dislikes", "dislikes"),
    ("dislikes", "detest", "detests", "detests"),
    ("dislikes", "loathe", "loathes", "loathes"),
    ("dislikes", "despise", "despises", "despises"),
    ("dislikes", "ca n't stand|can not stand|cannot stand", "ca n't stand|can not stand|cannot stand", "can't stand"),
    ("dislikes", "ca n't bear|cannot bear", "ca n't bear|cannot bear", "can't bear"),
    ("dislikes", "do n't like|do not like", "does n't like|does not like", "does not like"),
    ("dislikes", "do n't enjoy|do not enjoy", "does n't enjoy|does not enjoy", "does not enjoy"),
    ("dislikes", "'m not a fan of|am not a fan of", "is not a fan of|is n't a fan of", "is not a fan of"),
    ("avoids", "avoid", "avoids", "avoids"),
    ("avoids", "never eat", "never eats", "never eats"),
    ("avoids", "never drink", "never drinks", "never drinks"),
    ("avoids", "do n't eat|do not eat", "does n't eat|does not eat", "does not eat"),
    ("avoids", "do n't drink|do not drink", "does n't drink|does not drink", "does not drink"),
    ("prefers", "prefer", "prefers", "prefers"),
)  # fmt: skip
TASTES = (
    *(Relation(predicate, "anything", says, 0.85, PREFERENCE, first=first, third=third, kind="preference",
               plural="|".join(word for word in first.split("|") if "'m" not in word and "am " not in word))
      for predicate, first, third, says in TASTE_WORDS),
    Relation("liked", "anything", "used to like", 0.8, PREFERENCE, kind="preference", tense="over",
             either="used to like"),
    Relation("liked", "anything", "used to love", 0.8, PREFERENCE, kind="preference", tense="over",
             either="used to love|used to enjoy"),
    *(Relation("liked", "anything", f"no longer {verb}s", 0.8, PREFERENCE, kind="preference", tense="over",
               either=f"no longer {verb}|no longer {verb}s") for verb in ("like", "love", "enjoy")),
)  # fmt: skip

ENGLISH = Language(
    code="en",
    i=frozenset({"i"}),
    we=frozenset({"we"}),
    my=frozenset({"my"}),
    adverbs=listed(
        """
        now currently still also just really always absolutely recently finally actually already truly both presently
        nowadays today definitely honestly simply generally usually typically strongly totally very much especially
        first then eventually later officially happily even only too personally genuinely certainly
        """
    ),
    having=frozenset({"have", "has", "'ve", "'s"}),
    both=frozenset({"they", "both"}),
    splitting=listed(
        """
        divorced divorce divorcing separated separate split until till ended annulled died dead widowed broke ex former
        left
        """
    ),
    leaving=listed(
        """
        left leaving quit quitting resigned resigning fired retired dismissed sacked laid until till ended stopped
        dropped graduated declined refused finished returned returning
        """
    ),
    moving=listed("moved moving relocated relocating joined joining switched switching"),
    doubting=listed(
        """
        if unless whether maybe perhaps probably possibly presumably apparently allegedly supposedly reportedly
        seemingly hypothetically purportedly rumor rumors rumour rumours rumored rumoured imagine imagined imagining
        pretend pretends pretended pretending suppose supposing supposed assume assumes assumed assuming wish wishes
        wished hope hopes hoped hoping think thinks thought believe believes believed guess guesses guessed doubt doubts
        doubted suspect suspects suspected say says said tell tells told claim claims claimed heard hear hears ask asks
        asked wonder wonders wondering wondered unsure unclear unconfirmed unverified citation iirc afaik
        dream dreamed dreamt dreaming joke joking kidding kidded
        lie lied lying fictional fiction novel roleplay role-play sarcasm scenario mistakenly wrongly falsely denied
        denies deny rumoredly according false untrue wrong jk example examples instance translate rephrase rewrite
        proofread
        """
    ),
    leading=listed(
        """
        once when whenever per before after until wherever soon likely unlikely act book movie film story tale legend
        myth episode game
        """
    ),
    denying=listed(
        """
        not n't never no nobody would could may might must should will shall can 'd 'll neither nor hardly
        """
    ),
    asking=listed(
        """
        do does did is are was were has have had can could will would shall should may might must who what when where
        why how which whose whom am ai isn't n't
        """
    ),
    articles=frozenset({"the"}),
    joining=frozenset({"and"}),
    ending=listed(
        """
        because but since when while if so which that who whom whose as though although than until before after yet even
        especially unless once where whereas due thanks however for and/or or
        """
    ),
    pointing=listed(
        """
        it its that this these those them they you your yours him her his hers she he we our ours their theirs me what
        how when where who why which one ones everything something anything nothing all both each there here some any
        such another other others my mine myself
        """
    ),
    auxiliaries=listed(
        """
        do does did is are was were has have had can could will would shall should may might must am 's 're 've 'd 'll
        n't not be been being to never
        """
    ),
    relations=(
        WORKED_AT, WORKS_NO_LONGER_AT, WORKS_AT, STILL_WORKS_AT, JOINED, STARTED_AT, JOINED_CUE, LEFT_FOR,
        LIVED_IN, LIVES_NO_LONGER_IN, LIVES_IN, STILL_LIVES_IN, MOVED_TO, MOVED_FROM,
        *PEOPLE, *GROUPS, *PLACES, *THINGS, *LIFE, *TASTES,
    ),
    opening=listed(
        """
        because since as so why also then now besides plus though although while much know yes yeah yep no well where
        therefore thus hence furthermore moreover additionally currently meanwhile today hey hi oh wow ok okay than
        """
    ),
    reminding=listed("remember remind forget"),
    that=frozenset({"that"}),
    favourite=frozenset({"favourite", "favorite"}),
    name_words=frozenset({"name"}),
    being=frozenset({"is", "are", "'s"}),
    called_words=frozenset({"called", "named"}),
    relatives={
        "wife": "married_to", "husband": "married_to", "spouse": "married_to", "sister": "sister", "brother": "brother",
        "mother": "mother", "mom": "mother", "mum": "mother", "father": "father", "dad": "father", "son": "son",
        "daughter": "daughter", "boss": "reports_to", "manager": "reports_to", "supervisor": "reports_to",
        "girlfriend": "girlfriend", "boyfriend": "boyfriend", "fiancée": "engaged_to", "fiancé": "engaged_to",
        "fiance": "engaged_to", "fiancee": "engaged_to", "grandmother": "grandmother", "grandma": "grandmother",
        "grandfather": "grandfather", "grandpa": "grandfather", "cousin": "cousin", "aunt": "aunt", "uncle": "uncle",
        "niece": "niece", "nephew": "nephew", "roommate": "roommate", "flatmate": "roommate", "colleague": "colleague",
        "coworker": "colleague", "co-worker": "colleague", "mentor": "mentor", "neighbor": "neighbour",
        "neighbour": "neighbour", "doctor": "doctor", "dentist": "doctor", "therapist": "doctor", "coach": "coach",
        "teacher": "teacher", "friend": "friend", "partner": "partner",
    },
)  # fmt: skip
