"""PDF: text by page, headings of the outline, and what cannot be read."""

from __future__ import annotations

import io

import pytest
from pypdf import PdfReader, PdfWriter

from ebbtide.ingest.blocks import Block
from ebbtide.ingest.pdf import pdf_blocks, place_of
from ebbtide.ingest.reading import Unreadable
from tests.ingest.pdfs import pdf_from, pdf_of


def read(made: bytes, *, most_characters: int = 1_000_000) -> list[Block]:
    return pdf_blocks(io.BytesIO(made), most_characters=most_characters, warnings=[])


def reason(made: bytes, **more: int) -> str:
    with pytest.raises(Unreadable) as caught:
        read(made, **more)
    return caught.value.reason


def encrypted(made: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(made)))
    writer.encrypt(password, algorithm="RC4-128", owner_password="another one")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_text_by_page_under_the_outline() -> None:
    made = pdf_of(
        [["Setup", "Install it.", "Use it every day", "Run it."], ["More on run-", "ning it."]],
        [("Setup", 1), ("Use  it every day", 1), ("Not in the text", 2)],
    )
    found = [(one.sort, one.text, one.first, one.last) for one in read(made)]
    assert found == [
        ("heading", "Setup", 1, 1), ("text", "Install it.", 1, 1), ("heading", "Use it every day", 1, 1),
        ("text", "Run it.", 1, 1), ("heading", "Not in the text", 2, 2), ("text", "More on running it.", 2, 2),
    ]  # fmt: skip
    assert read(pdf_of([["plain"]], compress=True)) == [Block("text", "plain", 1, 1)]


def test_a_heading_is_found_with_its_number() -> None:
    assert place_of("The start", "x\n1.2 The  start\ny") == (2, 16)
    assert place_of("The start", "x is The start of it") is None


def test_what_cannot_be_read() -> None:
    assert reason(b"%PDF-1.4\nnothing else") == "damaged"
    assert reason(pdf_of([["text"]])[:200]) == "damaged"
    assert reason(pdf_of([[], []])) == "no text"
    assert reason(encrypted(pdf_of([["secret"]]), "password")) == "encrypted"
    assert reason(pdf_of([["many words here"]] * 20), most_characters=100) == "too large"


def test_what_opens_without_a_password_is_read() -> None:
    assert [one.text for one in read(encrypted(pdf_of([["for all"]]), ""))] == ["for all"]


def test_a_stream_that_grows_beyond_measure_is_refused() -> None:
    bomb = pdf_from([b"BT /F1 12 Tf " + b" " * 200_000_000 + b"(x) Tj ET"], compress=True)
    assert len(bomb) < 1_000_000
    assert reason(bomb) in ("too large", "no text")
