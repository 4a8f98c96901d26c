"""What stands in a context block of other people's words, in a form that no line of the block's own can have."""

from __future__ import annotations

import re
import unicodedata

from ebbtide.read.lookalikes import letters_of, seen_of, skeleton

__all__ = ["BAR", "escape", "escape_bullet", "label_of", "looks_like_marker", "name_of"]

# What a body's line must not look like: the block's own lines, by their letters alone or by the rule that opens them.
MARKERS = tuple(
    map(skeleton, ("memoryentry", "memoryblock", "endofmemoryblock", "userpreferencememory", "anentrymarked"))
)
RULE = re.compile(r"[-\u2010-\u2015\u2212\u2500-\u257f_=~]{3}")
TITLES = "|".join(map(skeleton, (
    "selectedbytheuser", "knowledgeaboutuser", "relationships", "memorysprinkle", "recentdiscussions", "fromfiles",
    "fromnotes", "fromtheproject",
)))  # fmt: skip
# A title with or without its signs, and nothing but a remark in parentheses before its colon.
TITLE = re.compile(rf"(?:#+|[*_]*)(?:{TITLES})(?:\([^)]*\))?[*_]*(?::|$)|#+(?:{TITLES})")
ENTITY = re.compile(rf"\[[^\]]*\].*{skeleton('confidence')}")
# What opens an item of a list, or stands for the mark of one that was confirmed or holds no longer.
BULLET = re.compile(r"[-*+•‣⁃·▪◦–—‐‑−>#]")
DASHES = re.compile(r"[\u2012-\u2015\u2212\u2e3a\u2e3b]")
MARK = re.compile(rf"[\W_]*(?:{skeleton('confirmedbytheuser')}|{skeleton('nolongerso')})")
LONGEST_LABEL = 120
BAR = "| "
INDENT = "    "


def escape(content: str, nonce: str, *, beside_items: bool = False) -> str:
    """The content with every line that could pass for one of the block's own set apart by a bar.

    Where lists stand beside it, so is every line that opens an item.
    """
    passes = _opens if beside_items else looks_like_marker
    return "\n".join(f"{BAR}{line}" if passes(line) else line for line in lines_of(content, nonce))


def escape_bullet(content: str, nonce: str) -> str:
    """The content as an item of a list has it: further lines are indented, and none of them opens another item."""
    first, *further = lines_of(content.strip(), nonce)
    first = f"{BAR}{first}" if looks_like_marker(first) or MARK.match(skeleton(seen_of(first))) else first
    return "\n".join([first, *(f"{INDENT}{BAR if _opens(line) else ''}{line}".rstrip() for line in further)])


def _opens(line: str) -> bool:
    return looks_like_marker(line) or BULLET.match(seen_of(line)) is not None


def lines_of(content: str, nonce: str) -> list[str]:
    """The lines of a content without the block's nonce; at least one."""
    return content.replace(nonce, "").splitlines() or [""]


def looks_like_marker(line: str) -> bool:
    """Whether a reader could take a line for one of the block's own, whatever invisible or foreign signs are in it."""
    seen = seen_of(line)
    plain = skeleton(seen)
    return (
        RULE.match(seen) is not None
        or letters_of(plain).startswith(MARKERS)
        or TITLE.match(plain) is not None
        or (ENTITY.match(plain) is not None and any(map(str.isdigit, seen)))
    )


def label_of(text: str, nonce: str) -> str:
    """A path, a title or a namespace as it stands in parentheses before what is from there."""
    plain = _one_line(text, nonce).translate(str.maketrans("()", "[]"))
    return f"{BAR}{plain}" if looks_like_marker(plain) else plain


def name_of(text: str, nonce: str) -> str:
    """A name or a predicate as it stands between brackets and dashes, which it therefore cannot hold."""
    return DASHES.sub("-", _one_line(text, nonce)).translate(str.maketrans("[]:", "() "))


def _one_line(text: str, nonce: str) -> str:
    """The text in one line of at most 120 characters, without signs that show nothing."""
    visible = "".join(
        " " if character.isspace() or unicodedata.category(character) in ("Cc", "Zl", "Zp") else character
        for character in text.replace(nonce, "")
        if unicodedata.category(character) != "Cf"
    )
    folded = " ".join(visible.split())
    return folded if len(folded) <= LONGEST_LABEL else f"{folded[: LONGEST_LABEL - 1]}…"
