"""The files of a folder, each with the namespace of the folder it lies in, and what a path is called in a store."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from ebbtide.ingest.reading import SUFFIXES
from ebbtide.text import shows_all

__all__ = ["Entry", "names_of", "readable", "segment_of", "segments_of", "walk"]

MOST_DEEP = 64
LONGEST_SEGMENT = 60
NOT_IN_A_SEGMENT = re.compile(r"[^\w-]+")
DIGEST_CHARACTERS = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a folder, or something in it that is left alone, and why.

    `name` is its path below the folder, with `/` between the parts, whatever the system writes there.
    """

    path: Path
    name: str
    namespace: str
    reason: str | None = None
    message: str | None = None


def walk(root: Path, namespace: str, include: Sequence[str], exclude: Sequence[str]) -> Iterator[Entry]:
    """Everything in a folder in the order of the names: files to read, and what is left alone.

    Links are not followed, so nothing outside of the folder is read and no circle is walked. Without `include` the
    files are those whose names end as a document's does.
    """
    seen: set[tuple[int, int]] = set()
    waiting: list[tuple[Path, str, str]] = [(root, "", namespace)]
    while waiting:
        folder, prefix, inside = waiting.pop()
        try:
            status = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield Entry(folder, prefix or ".", inside, "unreadable", f"It cannot be opened: {error.strerror}.")
            continue
        if (status.st_dev, status.st_ino) in seen or prefix.count("/") > MOST_DEEP:
            yield Entry(
                folder, prefix or ".", inside, "loop", "It is a folder that was walked already, or lies too deep."
            )
            continue
        seen.add((status.st_dev, status.st_ino))
        folders = [entry.name for entry in entries if _is_folder(entry)]
        segments = segments_of(folders)
        deeper: list[tuple[Path, str, str]] = []
        for entry in entries:
            name = readable(f"{prefix}{entry.name}")
            left = left_alone(entry, name, include, exclude)
            if left is not None:
                yield Entry(Path(entry.path), name, inside, *left)
            elif entry.name in segments:
                deeper.append((Path(entry.path), f"{name}/", f"{inside}.{segments[entry.name]}"))
            else:
                yield Entry(Path(entry.path), name, inside)
        waiting += reversed(deeper)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def left_alone(
    entry: os.DirEntry[str], name: str, include: Sequence[str], exclude: Sequence[str]
) -> tuple[str, str] | None:
    """Why something is not read, or None where it is."""
    if entry.name.startswith("."):
        return "hidden", "It is hidden."
    if entry.is_symlink():
        return "link", "It is a link, and those are not followed."
    if matches(name, exclude):
        return "excluded", "It is excluded."
    if _is_folder(entry):
        return None
    if include and not matches(name, include):
        return "not included", "It is not among what is included."
    if not include and Path(name).suffix.lower() not in SUFFIXES:
        return "no document", "Its name ends like no document's; include it to have it read."
    return None


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether the path, or its last part, meets a pattern; `**/` is any depth, also none."""
    last = name.rpartition("/")[2]
    return any(one.match(name) or one.match(last) for pattern in patterns for one in _expressions(pattern))


@lru_cache(maxsize=256)
def _expressions(pattern: str) -> tuple[re.Pattern[str], ...]:
    plain = pattern.removeprefix("./").removesuffix("/")
    return tuple(re.compile(translate(one)) for one in {plain, plain.removeprefix("**/"), f"{plain}/*"})


def readable(name: str) -> str:
    """A name as it can be kept: what the system could not decode, and what cannot be seen, is written out."""
    return "".join(
        character if character.isprintable() and shows_all(character) else f"\\u{ord(character):04x}"
        for character in name
    )


def segment_of(name: str) -> str:
    """The segment of a namespace for the name of a folder: letters, digits, `_` and `-`, in NFC."""
    plain = unicodedata.normalize("NFC", name)
    return NOT_IN_A_SEGMENT.sub("-", plain).strip("-")[:LONGEST_SEGMENT].strip("-")


def segments_of(names: Sequence[str]) -> dict[str, str]:
    """A segment for each of the folders of one folder, all different.

    One that could be taken for another, or for nothing, has some digits of its name's hash behind it, so that the
    segment of a folder is the same as long as the folders beside it are, and those that are alike never swap theirs.
    """
    plain = {name: segment_of(name) for name in names}
    folded = [segment.casefold() for segment in plain.values()]
    segments: dict[str, str] = {}
    for name, segment in plain.items():
        exact = segment == name
        alone = folded.count(segment.casefold()) == 1
        # The folder that is called just so keeps its name, whatever is put beside it later.
        if segment and (alone or exact):
            segments[name] = segment
        else:
            digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARACTERS]
            segments[name] = f"{segment}-{digest}" if segment else digest
    return segments


def names_of(path: Path) -> list[str]:
    """What a document may be called, the first being its name where the store knows none of them.

    That is the path from the current folder for what lies in it, however it was given, and the path from the root for
    what does not. A link on the way is a name of its own: what it leads to may change. The path from the root is known
    again for what lies in the folder too, where it was ingested from elsewhere.
    """
    plain = Path(os.path.normpath(path))
    if not same_file(plain, path):
        # A `..` behind a link leads out of what the link leads to.
        plain = Path(os.path.realpath(path))
    here = Path.cwd()
    absolute = Path(os.path.normpath(here / plain))
    real = Path(os.path.realpath(absolute.parent)) / absolute.name
    within = next((one.relative_to(here) for one in (absolute, real) if one.is_relative_to(here)), absolute)
    return list(dict.fromkeys([within.as_posix(), absolute.as_posix()]))


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file or folder."""
    try:
        return one.samefile(other)
    except OSError:
        return one.absolute() == other.absolute()
