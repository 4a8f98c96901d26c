"""What people call arguments here: `--dry-run` and ID, where programs, and the `field` of errors, have other names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from ebbtide.errors import EbbtideError

__all__ = ["as_called_here", "called", "confirming", "field_of"]

Error = TypeVar("Error", bound="EbbtideError")

# Behind a name; `drafts[3].content` is no argument.
END = r"(?!\w|\[|\.\w)"
# What stands in a file is called as it is there, and so its errors begin with where.
IN_A_FILE = re.compile(r"(?:Line \d+|A draft of the file)\b")
# Parameters that become arguments of another name.
OTHERWISE = {"tags_all": "tags", "of_user": "user", "asked": "input", "answered": "output", "paths": "source"}


def called(parameter: click.Parameter) -> str:
    """What an option or an argument is called on the command line."""
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return (parameter.metavar or str(parameter.name).upper()).strip("[].…")


def field_of(parameter: click.Parameter) -> str:
    """What programs know an option or an argument by, the same at every door: the name of the verb's argument."""
    name = str(parameter.name).rstrip("_")
    return OTHERWISE.get(name, name)


def confirming(token: str) -> str:
    """The command line that does what this one has shown: as it was typed, with the token of the look."""
    typed = [word for word in click.get_current_context().obj if word != "--dry-run"]
    end = typed.index("--") if "--" in typed else len(typed)
    return shlex.join(["ebbtide", *typed[:end], "--token", token, *typed[end:]])


def as_called_here(error: Error, command: click.Command) -> Error:
    """The error itself, whose words name the arguments of a verb as the command line has them."""
    if IN_A_FILE.match(error.message):
        return error
    names = {str(one.name): called(one) for one in command.params}
    names |= {other: names[name] for name, other in OTHERWISE.items() if name in names}
    error.message = _named(error.message, error.field, names)
    error.remedy = None if error.remedy is None else _named(error.remedy, None, names)
    return error


def _named(text: str, field: str | None, names: Mapping[str, str]) -> str:
    """The text with the names of this door: of any argument whose name is no word of a language, and of the field
    where the text begins with it."""
    words = sorted((name for name in names if "_" in name), key=len, reverse=True)
    if words:
        word = rf"(?<![\w.'\"-])({'|'.join(map(re.escape, words))})(?:=True\b|(=)(?=\w))?{END}"
        text = re.sub(word, lambda found: names[found[1]] + (" " if found[2] else ""), text)
    if field is not None and field in names and re.match(rf"{re.escape(field)}{END}", text):
        text = names[field] + text[len(field) :]
    return text
