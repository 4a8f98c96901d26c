"""PDFs made by hand: pages of text, an outline, streams that grow, and none of the tools that usually make them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence


def text_stream(lines: Sequence[str]) -> bytes:
    """The operators that show lines below each other."""
    shown = "".join(f"({line.replace('(', '').replace(')', '')}) Tj T* " for line in lines)
    return f"BT /F1 12 Tf 14 TL 72 720 Td {shown}ET".encode("latin-1")


def pdf_of(pages: Sequence[Sequence[str]], outline: Sequence[tuple[str, int]] = (), *, compress: bool = False) -> bytes:
    """A PDF of pages of lines. The outline is flat: titles with the numbers of their pages, from 1."""
    return pdf_from([text_stream(lines) for lines in pages], outline, compress=compress)


def pdf_from(streams: Sequence[bytes], outline: Sequence[tuple[str, int]] = (), *, compress: bool = False) -> bytes:
    """The same of the pages' own streams."""
    first_page = 4
    kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(len(streams)))
    top = first_page + 2 * len(streams)
    entries = " ".join(f"{top + 1 + number} 0 R" for number in range(len(outline)))
    catalog = f"/Outlines {top} 0 R" if outline else ""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, stream in enumerate(streams):
        packed = zlib.compress(stream) if compress else stream
        method = b"/Filter /FlateDecode " if compress else b""
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            + f"/Contents {first_page + 2 * number + 1} 0 R >>".encode()
        )
        objects.append(b"<< " + method + f"/Length {len(packed)} >>\nstream\n".encode() + packed + b"\nendstream")
    if outline:
        ends = entries.split(" 0 R")
        objects.append(
            f"<< /First {ends[0].strip()} 0 R /Last {ends[-2].strip()} 0 R /Count {len(outline)} >>".encode()
        )
        for number, (title, page) in enumerate(outline):
            after = f"/Next {top + 2 + number} 0 R" if number + 1 < len(outline) else ""
            before = f"/Prev {top + number} 0 R" if number else ""
            place = first_page + 2 * (page - 1)
            objects.append(
                f"<< /Title ({title}) /Parent {top} 0 R {after} {before} /Dest [{place} 0 R /Fit] >>".encode()
            )
    made = b"%PDF-1.4\n"
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(made))
        made += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    made += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    return made + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
