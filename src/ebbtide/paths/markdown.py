"""Memories as Markdown for people: a file for each namespace, kind or entity, the same bytes for the same memories."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from ebbtide.checks import check_word
from ebbtide.errors import InvalidInput
from ebbtide.paths.transfer import export_pages
from ebbtide.read.gather import place_of
from ebbtide.types.curation import MarkdownExport

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["export_markdown", "file_name"]

GROUPINGS = ("namespace", "kind", "entity")
MARK = ".ebbtide-markdown"
"""The file by which an earlier export is known, so that nothing else is ever replaced."""

DATES = ("created_at", "updated_at", "observed_at", "valid_from", "invalidated_at", "expires_at")
NO_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
UNSAFE = re.compile(r"[^\w.-]")
LONGEST_NAME_BYTES = 150
# Windows opens devices by these names, whatever the ending.
DEVICES = frozenset(
    [
        "con",
        "prn",
        "aux",
        "nul",
        *(f"com{number}" for number in range(1, 10)),
        *(f"lpt{number}" for number in range(1, 10)),
    ]
)


async def export_markdown(
    engine: Engine,
    caller: Caller,
    folder: str | Path,
    *,
    by: str = "namespace",
    progress: Callable[[int], None] | None = None,
    **narrowed: Any,
) -> MarkdownExport:
    """Write the live memories of a scope to a folder. See `AsyncEbbtide.export_markdown`."""
    check_word(by, "by", GROUPINGS, "a way to group memories")
    target = _target(folder)
    unfinished = _beside(target)
    pages = Pages(unfinished, by)
    try:
        total = 0
        async with aclosing(export_pages(engine, caller, **narrowed)) as exported:
            async for records in exported:
                now = engine.clock.now().isoformat()
                total += pages.add([record for record in records if _is_live(record, now)])
                if progress is not None:
                    progress(total)
        files = tuple(sorted(pages.finish(key) for key in pages.heads))
        (unfinished / MARK).write_text(f"{len(files)} files, {total} memories\n", encoding="utf-8")
        _replace(unfinished, target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return MarkdownExport(folder=str(target), files=files, memories=total)


@dataclass(slots=True)
class Pages:
    """The files of an export while it is written: the lines of their front matter, and what each is about."""

    folder: Path
    by: str
    heads: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    entities: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def add(self, records: Sequence[Mapping[str, Any]]) -> int:
        """Write memories to the pages that they belong on; answers with how many are on any."""
        bodies: dict[str, list[str]] = {}
        written = 0
        for record in records:
            keys = self._keys(record)
            written += bool(keys)
            for key in keys:
                self.heads.setdefault(key, []).append(_head(record, beside=self.by == "entity"))
                bodies.setdefault(key, []).append(_body(record, beside=self.by == "entity"))
        for key, texts in bodies.items():
            with self._body(key).open("a", encoding="utf-8", newline="\n") as stream:
                stream.writelines(texts)
        return written

    def _keys(self, record: Mapping[str, Any]) -> list[str]:
        if self.by != "entity":
            return [record[self.by]]
        named: list[dict[str, Any]] = list(record.get("entities", ()))
        for one in named:
            known = self.entities.setdefault(one["id"], {"name": one["name"], "type": one["type"], "own": False})
            if one["own"] and not known["own"]:
                known |= {"name": one["name"], "own": True}
        return [one["id"] for one in named]

    def _body(self, key: str) -> Path:
        return self.folder / f"{file_name(key)}.body"

    def finish(self, key: str) -> str:
        """Put the front matter before what a file says; answers with the file's name."""
        about: dict[str, Any] = {self.by: key}
        file = f"{file_name(key)}.md"
        if self.by == "entity":
            entity = self.entities[key]
            about = {"entity": entity["name"], "type": entity["type"], "id": key}
            # Two of one name have a file each.
            file = f"{file_name('_'.join(entity['name'].lower().split()) + '.' + key[-8:])}.md"
        with (self.folder / file).open("w", encoding="utf-8", newline="\n") as stream:
            stream.write("---\n" + "".join(f"{name}: {yaml_text(value)}\n" for name, value in about.items()))
            stream.write(f"count: {len(self.heads[key])}\nmemories:\n")
            stream.writelines(self.heads[key])
            stream.write("---\n")
            with self._body(key).open(encoding="utf-8", newline="\n") as said:
                shutil.copyfileobj(said, stream)
        self._body(key).unlink()
        return file


def file_name(name: str) -> str:
    """A file name, without its ending, that any file system takes and that no two names share.

    A name of small letters, digits, dots, `-` and `_` stands for itself; any other one is made safe and has a part of
    its SHA-256 behind it, so that neither case nor what was replaced makes two of them one.
    """
    safe = UNSAFE.sub("_", unicodedata.normalize("NFC", name)).strip(".") or "_"
    cut = safe.encode()[:LONGEST_NAME_BYTES].decode(errors="ignore")
    device = cut.split(".", 1)[0].casefold() in DEVICES
    if cut == name and cut.isascii() and cut == cut.lower() and not device and "-" not in cut[-9:-8]:
        return cut
    return f"{'_' if device else ''}{cut}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"


def _is_live(record: Mapping[str, Any], now: str) -> bool:
    """Whether a memory holds now."""
    ended = any(record[name] is not None and _instant(record[name]) <= now for name in ("invalidated_at", "expires_at"))
    return (
        record["status"] == "active"
        and record["superseded_by"] is None
        and record["maturity"] != "invalidated"
        and not ended
    )


def _instant(moment: Any) -> str:
    return moment if isinstance(moment, str) else moment.isoformat()


def _head(record: Mapping[str, Any], *, beside: bool) -> str:
    """The line of a memory in a file's front matter: JSON, which YAML reads too; `beside`, also what it says holds."""
    dates = {name: _instant(record[name]) for name in DATES if record[name] is not None}
    fields = {name: record[name] for name in ("id", "revision", "namespace", "kind", "maturity")}
    marks = {
        name: record[name] for name in ("subject", "predicate", "speaker", "source", "tags", "labels") if record[name]
    }
    told = {"relations": _relations(record), "sources": _sources(record)} if beside else {}
    return f"  - {yaml_text({**fields, **dates, **marks, **{name: value for name, value in told.items() if value}})}\n"


def _relations(record: Mapping[str, Any]) -> list[list[str]]:
    """What a memory says holds, by names."""
    names = {one["id"]: one["name"] for one in record.get("entities", ())}
    return [
        [names[one["subject"]], one["predicate"], names[one["object"]]]
        for one in record.get("relations", ())
        if one["subject"] in names and one["object"] in names
    ]


def _sources(record: Mapping[str, Any]) -> list[str]:
    """What a memory was made from: where in which document it stands, and other memories by their ids."""
    place = record.get("document")
    files = [] if place is None else [f"{place['path']}, {place_of(place['media'], place['first'], place['last'])}"]
    return [*files, *(str(one["source"]) for one in record.get("origins", ()))]


def yaml_text(value: Any) -> str:
    """A value as JSON on one line, with what ends a line in YAML, or is no character there, escaped."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return NO_YAML.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _body(record: Mapping[str, Any], *, beside: bool) -> str:
    """A memory as a quotation below its id: nothing that it says can end it or pass for another one."""
    lines = str(record["content"]).replace("\r\n", "\n").replace("\r", "\n").splitlines() or [""]
    said = f"\n## {record['id']}\n\n" + "".join(f"> {line}".rstrip() + "\n" for line in lines)
    if not beside:
        return said
    told = [*(" ".join(one) for one in _relations(record)), *(f"from {one}" for one in _sources(record))]
    return said + ("\n" if told else "") + "".join(f"- {' '.join(line.split())}\n" for line in told)


def _target(folder: str | Path) -> Path:
    """The folder to write.

    Raises:
        InvalidInput: it is a file, holds something else than an earlier export, or its parent is not there.
    """
    try:
        target = Path(folder).resolve()
        taken = target.exists() and (not target.is_dir() or (any(target.iterdir()) and not (target / MARK).is_file()))
    except (OSError, TypeError, ValueError):
        raise InvalidInput("folder is not a path that can be read.", field="folder", remedy="Name a folder.") from None
    if taken:
        raise InvalidInput(
            f"{str(target)!r} holds something else than an earlier export.",
            field="folder",
            remedy="Name a folder that is new, empty, or an earlier export to Markdown.",
        )
    return target


def _beside(target: Path) -> Path:
    """A new folder beside the target.

    Raises:
        InvalidInput: none can be made there.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(mkdtemp(prefix=f"{target.name[:100]}.", suffix=".unfinished", dir=target.parent))
    except OSError as error:
        raise InvalidInput(
            f"{str(target)!r} cannot be written: {error.strerror}.", field="folder", remedy="Check the path."
        ) from error


def _replace(unfinished: Path, target: Path) -> None:
    """Give the finished folder its name; an earlier export goes only when the new one is whole."""
    unfinished.chmod(0o755 & ~_umask())
    if target.exists():
        old = unfinished.with_suffix(".old")
        target.rename(old)
        unfinished.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        unfinished.rename(target)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
