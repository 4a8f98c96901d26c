"""What a file is, whatever its name says: its type, its encoding, and whether it can be read at all."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from ebbtide.ingest.split import safe_cut

__all__ = ["SUFFIXES", "Examined", "Media", "Unreadable", "examine", "open_file", "read_lines", "read_text"]

Media = Literal["markdown", "text", "html", "pdf"]

SUFFIXES: dict[str, Media] = {
    ".md": "markdown", ".markdown": "markdown", ".mdown": "markdown", ".mkd": "markdown",
    ".txt": "text", ".text": "text",
    ".html": "html", ".htm": "html", ".xhtml": "html",
    ".pdf": "pdf",
}  # fmt: skip

PIECE = 1 << 20
LOOKED_AT = 65_536
MOST_CONTROLS = 0.01
# No language that Latin-1 is for has accents on more than so many of its letters.
FEW_ACCENTS, MOST_ACCENTS = 12, 0.3
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CONTROLS = bytes([*range(9), 11, *range(14, 27), *range(28, 32)])
IS_PDF = re.compile(rb"\A[\s\S]{0,1024}?%PDF-\d")
IS_HTML = re.compile(rb"(?is)\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!doctype\s+html|<html[\s>])")
CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w:.-]{2,40})", re.IGNORECASE)


class Unreadable(Exception):
    """A file of which nothing can be remembered, and why, as a word for programs and a sentence for people."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Examined:
    """What a file is. `digest` is the SHA-256 of its bytes; `warnings` say what is not as its name lets expect."""

    media: Media
    encoding: str
    digest: bytes
    size: int
    warnings: tuple[str, ...] = ()


def open_file(path: Path, *, follow: bool) -> BinaryIO:
    """The file opened for reading, if it is a regular one; a link only where it may `follow`.

    Raises:
        Unreadable: it is not there, is no file, or may not be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags if follow else flags | getattr(os, "O_NOFOLLOW", 0))
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Unreadable("unreadable", f"It cannot be opened: {said}.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable("no file", "It is no regular file.")
    return os.fdopen(descriptor, "rb")


def examine(stream: BinaryIO, name: str, *, most_bytes: int, default: Media | None = None) -> Examined:
    """Read a file once for what it is; `default` is what it is taken for where neither name nor content says it.

    Raises:
        Unreadable: it is empty, too large or binary, or not what its name says.
    """
    digest, size, head = hashlib.sha256(), 0, b""
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf8 = True
    try:
        while piece := stream.read(PIECE):
            head = head or piece[:LOOKED_AT]
            size += len(piece)
            if size > most_bytes:
                raise Unreadable("too large", f"It has more than {most_bytes:,} bytes.")
            digest.update(piece)
            is_utf8 = is_utf8 and _decodes(decoder, piece)
    except OSError as error:
        raise Unreadable("unreadable", f"It cannot be read: {error.strerror or error}.") from error
    if size == 0:
        raise Unreadable("empty", "It is empty.")
    is_utf8 = is_utf8 and _decodes(decoder, b"", final=True)
    media, warnings = media_of(head, name, default)
    encoding = "" if media == "pdf" else encoding_of(head, media, is_utf8, warnings)
    return Examined(media, encoding, digest.digest(), size, tuple(warnings))


def _decodes(decoder: codecs.IncrementalDecoder, piece: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError:
        return False
    return True


def media_of(head: bytes, name: str, default: Media | None) -> tuple[Media, list[str]]:
    """The type of a file by its first bytes and its name.

    Raises:
        Unreadable: the name says PDF and the content does not.
    """
    suffix = Path(name).suffix.lower()
    named = SUFFIXES.get(suffix)
    if IS_PDF.match(head):
        return "pdf", [] if named == "pdf" else [f"it is a PDF, though its name ends in {suffix or 'nothing'}"]
    if named == "pdf":
        raise Unreadable("wrong type", "Its name says PDF, and it is none.")
    if IS_HTML.match(head) and named in (None, "text"):
        return "html", [] if named is None else [f"it is HTML, though its name ends in {suffix}"]
    return named or default or "text", []


def encoding_of(head: bytes, media: Media, is_utf8: bool, warnings: list[str]) -> str:
    """The encoding of a text; what was guessed is added to the warnings.

    Raises:
        Unreadable: it is no text.
    """
    for mark, encoding in BOMS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        guessed = utf_16_of(head)
        if guessed is None:
            raise Unreadable("binary", "It is no text.")
        warnings.append(f"read as {guessed.upper()}, by the look of it")
        return guessed
    if len(head.translate(None, CONTROLS)) < len(head) * (1 - MOST_CONTROLS):
        raise Unreadable("binary", "It is no text.")
    if is_utf8:
        return "utf-8"
    declared = CHARSET.search(head) if media == "html" else None
    if declared is not None:
        try:
            return codecs.lookup(declared[1].decode("ascii")).name
        except (LookupError, UnicodeDecodeError):
            warnings.append("it names an encoding that there is not")
    beyond_ascii = sum(byte >= 0x80 for byte in head)
    if beyond_ascii >= FEW_ACCENTS and beyond_ascii > MOST_ACCENTS * len(head):
        # Another script in an encoding of its own: read as Latin-1 it would be remembered as nonsense.
        raise Unreadable("unreadable", "It is not UTF-8, and not Latin-1 by the look of it; convert it to UTF-8.")
    warnings.append("it is not UTF-8; read as Latin-1 (Windows-1252)")
    return "cp1252"


def utf_16_of(head: bytes) -> str | None:
    """The byte order of UTF-16 without a mark, where every other byte is mostly 0, as in European texts."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = max(1, len(head) // 2)
    if min(even, odd) > 0.05 * half or max(even, odd) < 0.4 * half:
        return None
    guessed = "utf-16-le" if odd > even else "utf-16-be"
    text = head.decode(guessed, "replace")
    odd_ones = sum(not (character.isprintable() or character.isspace()) for character in text)
    return guessed if odd_ones <= MOST_CONTROLS * len(text) else None


def text_of(stream: BinaryIO, encoding: str) -> io.TextIOWrapper:
    """The stream as text from its start; what cannot be decoded becomes U+FFFD, and line breaks are `\\n`."""
    stream.seek(0)
    return io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline=None)


def read_text(stream: BinaryIO, encoding: str) -> Iterator[str]:
    """The text in pieces, without characters that no database keeps."""
    text = text_of(stream, encoding)
    try:
        while piece := text.read(LOOKED_AT):
            yield storable(piece)
    finally:
        text.detach()


def read_lines(stream: BinaryIO, encoding: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers from 1; one of more than a million characters comes in parts, cut at a space."""
    text = text_of(stream, encoding)
    number, rest = 1, ""
    try:
        while piece := text.readline(PIECE):
            line = rest + piece
            if line.endswith("\n"):
                yield number, storable(line[:-1])
                number, rest = number + 1, ""
            elif len(line) >= PIECE:
                at = max(line.rfind(" "), 0) or safe_cut(line, len(line) - 1)
                yield number, storable(line[:at])
                rest = line[at:]
            else:
                rest = line
        if rest:
            yield number, storable(rest)
    finally:
        text.detach()


def storable(text: str) -> str:
    """The text without NUL and lone surrogates, which UTF-16 may hold."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text
