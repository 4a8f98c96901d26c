"""What a reader sees of a line: plain letters, whatever script or sign each of them was taken from."""

from __future__ import annotations

import unicodedata

from ebbtide.text import INVISIBLE

__all__ = ["letters_of", "seen_of", "skeleton"]

# Letters and signs that look like Latin letters in either case, as they are after decomposition and case folding. What
# stands upright, i, l and 1, counts as one letter. After the “confusable” characters of Unicode Technical Standard 39.
ALPHABETS = {
    "Cyrillic": ("авекмопрстуѕԁгнхіјһԛԝьӏғ", "abekmonpctysdrhxljhqwblf"),
    "Greek": ("αβεηκμνορτυιχζωγ", "abenkmnoptylxzwy"),
    "Armenian": ("օոսհյգզցքւ", "onuhjqqgpl"),
    "Coptic": ("ⲁⲃⲥⲉⲏⲓⲕⲙⲛⲟⲣⲧⲩⲭ", "abcehlkmnoptyx"),
    "Cherokee": ("ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏒᏚᎢᏙᎳᏔᎩᎽᏃᏳᏏᏧ", "abcdeghljklmprrstvwwyyzgbd"),
    "Lisu": ("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "bpdtgkjczfmnlsrvhwxyaelou"),
    "small capitals": ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghljklmnopqrstuvwyz"),
    "without a dot or with a stroke": ("ıɑɡɩʋøđłħŧƶɓɗɛɲ℮", "laglvodlhtzbdene"),
    "upright": ("i1ǀ∣ǃ", "lllll"),
    "digits and signs": ("0345678$@€", "oeasgtbsae"),
}
PLAIN = "abcdefghljklmnopqrstuvwxyz"
# Flags, and letters on black circles and squares, which no decomposition opens.
ROWS = (0x1F1E6, 0x1F150, 0x1F170)
LATIN = {
    ord(seen): plain for letters, plains in ALPHABETS.values() for seen, plain in zip(letters, plains, strict=True)
} | {first + place: letter for first in ROWS for place, letter in enumerate(PLAIN)}
DASHES = dict.fromkeys("˗⁃⎯⏤➖一ーᅳ〰〜⁓", "-") | {"⸺": "--", "⸻": "---"}
BRACKETS = dict.fromkeys("【〔〖⟦⁅❲", "[") | dict.fromkeys("】〕〗⟧⁆❳", "]")
SIGNS = str.maketrans(DASHES | BRACKETS)
UNSEEN = ("Cf", "Mn", "Me", "Cc", "Co", "Cn")
UNSEEN_ASCII = dict.fromkeys((*range(0x21), 0x7F))


def seen_of(line: str) -> str:
    """A line with its case folded, without white space, accents and invisible signs."""
    if line.isascii():
        return line.lower().translate(UNSEEN_ASCII)
    return "".join(
        character
        for character in unicodedata.normalize("NFKD", line).casefold()
        if not character.isspace() and character not in INVISIBLE and unicodedata.category(character) not in UNSEEN
    ).translate(SIGNS)


def skeleton(seen: str) -> str:
    """What was seen in plain letters, the same for all that look alike."""
    return seen.translate(LATIN).replace("rn", "m").replace("vv", "w")


def letters_of(plain: str) -> str:
    """The letters of a skeleton without its signs."""
    return "".join(character for character in plain if character.isalnum())
