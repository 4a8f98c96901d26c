"""How fast Markdown is ingested, and how much memory that takes: files of any size, read a stretch at a time."""

from __future__ import annotations

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from benchmarks._measure import Figure, show
from ebbtide import AsyncEbbtide
from ebbtide.settings import Settings

WORDS = 20_000
MEGABYTE = 1_000_000
# Linux counts in kilobytes, macOS in bytes.
UNIT = 1 if sys.platform == "darwin" else 1_024
NAMESPACE = "vector.bench.files"


class Author:
    """Writes Markdown that looks like a handbook's: headings, paragraphs, lists, code and tables, none twice."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.words = [
            "".join(self.chance.choices("aeioubdfgklmnprst", k=self.chance.randint(2, 10))) for _ in range(WORDS)
        ]

    def text(self, least: int, most: int) -> str:
        return " ".join(self.chance.choices(self.words, k=self.chance.randint(least, most)))

    def section(self) -> str:
        parts = [f"{'#' * self.chance.randint(2, 4)} {self.text(1, 5).title()}"]
        for _ in range(self.chance.randint(1, 6)):
            sort = self.chance.random()
            if sort < 0.7:
                parts.append(f"{self.text(20, 120).capitalize()}.")
            elif sort < 0.85:
                parts.append("\n".join(f"- {self.text(3, 20)}" for _ in range(self.chance.randint(2, 8))))
            elif sort < 0.95:
                parts.append(
                    "\n".join(["```python", *(f"{self.text(1, 1)} = {self.text(1, 4)!r}" for _ in range(8)), "```"])
                )
            else:
                parts.append(
                    "\n".join(
                        ["| a | b |", "|---|---|", *(f"| {self.text(1, 4)} | {self.text(1, 4)} |" for _ in range(6))]
                    )
                )
        return "\n\n".join(parts) + "\n\n"

    def write(self, file: Path, size: int) -> None:
        """A file of at least so many bytes."""
        with file.open("w", encoding="utf-8") as stream:
            stream.write(f"# {self.text(2, 4).title()}\n\n")
            while stream.tell() < size:
                stream.write(self.section())


def peak_bytes() -> int:
    """The most memory of this process that was resident at once; PostgreSQL is a process of its own."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


class Watch:
    """Says every few megabytes how far it is and how much memory that took, for runs that nobody waits for."""

    def __init__(self) -> None:
        self.told = 0
        self.started = time.perf_counter()

    def __call__(self, done: int, _total: int) -> None:
        if done - self.told >= 5 * MEGABYTE:
            self.told = done
            seconds = time.perf_counter() - self.started
            print(
                f"{done / MEGABYTE:,.0f} MB after {seconds:,.0f} s, at most {peak_bytes() / MEGABYTE:,.0f} MB",
                file=sys.stderr,
            )


async def run(megabytes: int, files: int, folder: Path) -> list[Figure]:
    """Ingest a folder, an edit of it, and the same again."""
    handbook = folder / "handbook"
    handbook.mkdir()
    author = Author(7)
    for number in range(files):
        author.write(handbook / f"{number:04}.md", megabytes * MEGABYTE // files)
    before = peak_bytes()
    settings = Settings.from_environment({}, in_process_worker=False)
    async with AsyncEbbtide.open(folder / "store", embedder="fake:384", settings=settings) as memory:
        opened = peak_bytes()
        started = time.perf_counter()
        found = await memory.ingest(handbook, namespace=NAMESPACE, progress=Watch())
        seconds = time.perf_counter() - started
        peak = peak_bytes()
        assert not found.failed
        passages = sum(one.new for one in found.files)
        edited = handbook / "0000.md"
        text = edited.read_text(encoding="utf-8")
        edited.write_text(text.replace("\n\n", "\n\nA line more.\n\n", 1), encoding="utf-8")
        started = time.perf_counter()
        again = await memory.ingest(handbook, namespace=NAMESPACE)
        edit_seconds = time.perf_counter() - started
    changed = next(one for one in again.files if one.status == "updated")
    size = f"{megabytes} MB in {files} files"
    return [
        Figure(f"{size}: ingested in", seconds, "s"),
        Figure("  rate", megabytes / seconds, "MB/s"),
        Figure("  passages", passages, ""),
        Figure("  passages a second", passages / seconds, "/s"),
        Figure("  most resident memory", peak / MEGABYTE, "MB", 600),
        Figure("  of that before the store was opened", before / MEGABYTE, "MB"),
        Figure("  of that with the store open", opened / MEGABYTE, "MB"),
        Figure("  a line more in one file: again in", edit_seconds, "s"),
        Figure("    passages embedded anew", changed.new, ""),
        Figure("    passages kept", changed.kept, ""),
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=10)
    parser.add_argument("--files", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ebbtide-benchmark-") as folder:
        show("Ingesting Markdown", asyncio.run(run(given.megabytes, given.files, Path(folder))))


if __name__ == "__main__":
    main()
