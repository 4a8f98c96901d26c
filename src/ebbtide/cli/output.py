"""Where answers, progress and errors go: the answer alone to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from pydantic import BaseModel

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID
    from rich.text import Text

    from ebbtide.errors import EbbtideError
    from ebbtide.types.base import Page

__all__ = ["Output", "counted", "discard_rest", "json_text", "open_closed_streams", "printable", "styled"]

Tell = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is done, and how much there is of it, None where nobody knows."""

Piece = str | tuple[str, str]
"""A text, or a text and its style."""

# How wide a line may be where no terminal says so.
PLAIN_WIDTH = 100
# Where a line has room for an id, a namespace and a sentence.
WIDE = 120
REPORTS = 10
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Output:
    """How one command answers: as JSON, or as text for people."""

    as_json: bool
    kept: list[str] = field(default_factory=lambda: ["nothing was stored"])
    """What is said to stay should the command be interrupted; the last one holds."""

    def answer(self, value: Any, show: Callable[[Console], None], *, none: str = "none") -> None:
        """The command's answer: its value as JSON, or what `show` prints of it. An empty list is said to be `none`."""
        self.keeps("what was asked was done")
        if self.as_json:
            self.write(json_text(value, indent=2 if sys.stdout.isatty() else None) + "\n")
        elif isinstance(value, list) and not value:
            self.note(none)
        else:
            show(self.console())

    def keeps(self, what: str) -> None:
        """Say what an interruption from now on leaves stored, of a command that stores in more than one step."""
        self.kept.append(what)

    def write(self, text: str) -> None:
        """Exactly this text on standard output."""
        sys.stdout.write(text)
        sys.stdout.flush()

    def console(self, *, cut: bool = False) -> Console:
        """The console of standard output, silent where the answer is JSON.

        Lines are as wide as the terminal; in a file or a pipe they are whole, unless they are to be `cut`.
        """
        from rich.console import Console

        width = PLAIN_WIDTH if cut and not sys.stdout.isatty() else None
        whole = not cut and not sys.stdout.isatty()
        return Console(width=width, markup=False, highlight=False, emoji=False, soft_wrap=whole, quiet=self.as_json)

    def note(self, text: str, *, style: str = "dim") -> None:
        """A line for people on standard error; where nobody reads that any more, work goes on without it."""
        if not sys.stderr.isatty():
            try:
                print(printable(text), file=sys.stderr, flush=True)
            except BrokenPipeError:
                discard_rest(sys.stderr)
            return
        from rich.console import Console

        Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True).print(
            printable(text), style=style
        )

    def page(self, found: Page[Any], show: Callable[[Console], None], *, option: str = "--after") -> None:
        """A part of a list as the answer: as JSON its `items`, and what the option takes to go on, null at the end."""
        self.answer({"items": list(found), "next": found.next} if self.as_json else list(found), show)
        self.more(found.next, option)

    def more(self, mark: object, option: str = "--after") -> None:
        """Say by which option the list goes on behind a mark, where it does."""
        if mark is not None and not self.as_json:
            self.note(f"There is more: {option} {mark}")

    def error(self, error: EbbtideError) -> None:
        """An error: its one JSON shape on standard output, or a line and the remedy on standard error."""
        if self.as_json:
            self.write(json_text(error.to_dict()) + "\n")
            return
        self.note(error.message, style="bold red")
        if error.remedy:
            self.note(error.remedy)

    @contextmanager
    def progress(self) -> Generator[Tell]:
        """Tell how far a long piece of work is: bars on a terminal, a few lines elsewhere."""
        if not sys.stderr.isatty():
            yield self._lines()
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            tasks: dict[str, TaskID] = {}

            def tell(what: str, done: int, total: int | None) -> None:
                if what not in tasks:
                    tasks[what] = bars.add_task(what, total=total)
                bars.update(tasks[what], completed=done)

            yield tell

    def _lines(self) -> Tell:
        told: dict[str, int] = {}

        def tell(what: str, done: int, total: int | None) -> None:
            if done == told.get(what):
                return
            last = told.get(what, 0)
            # A tenth at a time, or ten times as much as last time where nobody knows how much there is.
            step = total / REPORTS if total else last * (REPORTS - 1)
            if done - last >= max(1, step) or done == total:
                told[what] = done
                self.note(f"{what}: {done:,}" + (f" of {total:,}" if total else ""))

        return tell


def open_closed_streams() -> None:
    """Put nothing in the place of standard streams that were closed, as services do; the interpreter leaves none."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 (it stays open to the end)


def discard_rest(stream: TextIO) -> None:
    """Let what is still to be written to a stream whose reader has gone go nowhere, also when the program ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def json_text(value: Any, *, indent: int | None = None) -> str:
    """The value as JSON, in ASCII where standard output is not UTF-8."""
    return json.dumps(
        plain(value),
        ensure_ascii=not (sys.stdout.encoding or "").lower().startswith("utf"),
        indent=indent,
    )


def plain(value: Any) -> Any:
    """The value as JSON has it. What a model leaves out of its JSON is left out here."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(inner) for inner in cast("Sequence[Any]", value)]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun, whose plural ends in s or ies where none is given."""
    plural = many or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{number:,} {one if number == 1 else plural}"


def printable(text: str) -> str:
    """The text without characters that could steer a terminal or turn its lines around."""
    return STEERING.sub("\N{REPLACEMENT CHARACTER}", text)


def line(console: Console, *pieces: Piece) -> None:
    """Print pieces of text as one line, cut at the console's width where it has one; line breaks become spaces."""
    made = styled(*map(unbroken, pieces))
    console.print(made, no_wrap=True, overflow=None if console.soft_wrap else "ellipsis")


def entry(console: Console, about: Sequence[Piece], *said: Piece) -> None:
    """Print what is known about one thing of a list, and what it says: in one line, or in two on a narrow terminal."""
    if console.soft_wrap or console.width >= WIDE:
        line(console, *about, "  ", *said)
        return
    line(console, *about)
    line(console, "    ", *said)


def unbroken(piece: Piece) -> Piece:
    """The piece without line breaks."""
    return piece.replace("\n", " ") if isinstance(piece, str) else (piece[0].replace("\n", " "), piece[1])


def paragraph(console: Console, *pieces: Piece) -> None:
    """Print pieces of text in as many lines as they take."""
    console.print(styled(*pieces))


def copyable(console: Console, introduction: str, text: str) -> None:
    """Print a text in one piece whatever the width, so that it can be copied, on a line of its own."""
    paragraph(console, (introduction, "dim"))
    console.print(styled("  ", text), soft_wrap=True)


def styled(*pieces: Piece) -> Text:
    """Pieces of text, each plain or with its style, without anything that could steer a terminal."""
    from rich.text import Text

    return Text.assemble(
        *(printable(piece) if isinstance(piece, str) else (printable(piece[0]), piece[1]) for piece in pieces)
    )
