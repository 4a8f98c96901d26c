"""What a file is: type, encoding, and what cannot be read."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.ingest.reading import PIECE, Examined, Unreadable, examine, open_file, read_lines
from tests.ingest.pdfs import pdf_of

TEXT = "Grüße aus Zürich: 10 €\nline two\n"


def look(content: bytes, name: str = "a.md") -> Examined:
    return examine(io.BytesIO(content), name, most_bytes=10_000_000)


def text(content: bytes, name: str = "a.md") -> str:
    return "\n".join(line for _, line in read_lines(io.BytesIO(content), look(content, name).encoding))


def reason(content: bytes, name: str = "a.md") -> str:
    with pytest.raises(Unreadable) as caught:
        look(content, name)
    return caught.value.reason


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_encodings_of_unicode(encoding: str) -> None:
    assert text((TEXT * 5).encode(encoding)) == (TEXT * 5).rstrip("\n")
    told = look((TEXT * 5).encode(encoding)).warnings
    assert bool(told) == (encoding in ("utf-16-le", "utf-16-be"))


def test_what_is_not_utf_8_is_read_as_latin_1_and_told() -> None:
    assert text(TEXT.encode("cp1252")) == TEXT.rstrip("\n")
    assert "Latin-1" in look(TEXT.encode("cp1252")).warnings[0]
    # The first mistake may come late.
    assert look(b"plain\n" * 400_000 + b"\xfc").encoding == "cp1252"


@pytest.mark.parametrize(
    ("said", "encoding"),
    [
        ("日本語の文章です。漢字とかな", "shift_jis"), ("中文的文字在这里,外币汇率换算表", "gb18030"),
        ("Паром отходит в семь часов утра", "cp1251"), ("Το πλοίο φεύγει στις επτά", "iso8859-7"),
        ("한국어 문장입니다", "euc-kr"),
    ],
)  # fmt: skip
def test_another_script_is_not_read_as_latin_1(said: str, encoding: str) -> None:
    with pytest.raises(Unreadable) as caught:
        look(said.encode(encoding))
    assert (caught.value.reason, "UTF-8" in caught.value.message) == ("unreadable", True)
    page = f'<!doctype html><meta charset="{encoding}"><p>{said}'
    assert said in text(page.encode(encoding), "a.html")


@pytest.mark.parametrize(
    "said", ["Größenmaßstäbe: übermäßig schöne Öfen", "Où étaient-ils déjà allés ? À la forêt, là-bas", "äöü"]
)
def test_accents_are_read_as_latin_1(said: str) -> None:
    assert text(said.encode("cp1252")) == said


def test_the_encoding_that_a_page_declares() -> None:
    page = '<!doctype html><meta charset="iso-8859-2"><p>Łódź'.encode("iso-8859-2")
    assert look(page, "a.html").encoding == "iso8859-2"
    assert look(page, "a.html").warnings == ()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_breaks(newline: str) -> None:
    content = newline.join(["one", "two", "", "four"]).encode()
    assert list(read_lines(io.BytesIO(content), "utf-8")) == [(1, "one"), (2, "two"), (3, ""), (4, "four")]


def test_a_line_of_megabytes_comes_in_parts_with_its_number() -> None:
    content = ("word " * 700_000 + "\nend").encode()
    found = list(read_lines(io.BytesIO(content), "utf-8"))
    assert {number for number, _ in found[:-1]} == {1}
    assert found[-1] == (2, "end")
    assert all(len(part) <= PIECE for _, part in found)
    assert "".join(part for _, part in found[:-1]) == "word " * 700_000


def test_the_content_says_what_a_file_is() -> None:
    assert look(b"# x").media == "markdown"
    assert look(b"# x", "a.txt").media == "text"
    assert look(b"# x", "README").media == "text"
    assert look(b"<p>x", "a.htm").media == "html"
    page = look(b"<!DOCTYPE html><p>x", "a.txt")
    assert (page.media, len(page.warnings)) == ("html", 1)
    paper = look(pdf_of([["x"]]), "a.md")
    assert (paper.media, len(paper.warnings)) == ("pdf", 1)
    assert look(pdf_of([["x"]]), "a.pdf").warnings == ()


def test_what_cannot_be_read() -> None:
    assert reason(b"") == "empty"
    assert reason(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 9) == "binary"
    assert reason(bytes(range(1, 9)) * 50) == "binary"
    assert reason(b"plain text", "a.pdf") == "wrong type"
    with pytest.raises(Unreadable) as caught:
        examine(io.BytesIO(b"x" * 101), "a.md", most_bytes=100)
    assert caught.value.reason == "too large"


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")
    for name, expected in (("pipe", "no file"), ("link", "unreadable"), ("missing", "unreadable")):
        with pytest.raises(Unreadable) as caught:
            open_file(tmp_path / name, follow=False)
        assert caught.value.reason == expected
    with pytest.raises(Unreadable):
        open_file(tmp_path, follow=True)


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["a.md", "a.html", "a.txt", "a.pdf", "a"]))
def test_no_bytes_break_it(content: bytes, name: str) -> None:
    try:
        found = look(content, name)
    except Unreadable:
        return
    if found.media != "pdf":
        for _, line in read_lines(io.BytesIO(content), found.encoding):
            line.encode()
            assert "\0" not in line
