"""Every `ebbtide` command line in the documentation is one that the program takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ebbtide.cli.app import cli
from tests.tidy.tree import ROOT

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (?:.*\| )?ebbtide (.+)$", re.MULTILINE)


def command_lines() -> Iterator[object]:
    pages: list[Path] = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
    for path in pages:
        for block in BLOCK.findall(path.read_text(encoding="utf-8")):
            for found in COMMAND.findall(block):
                yield pytest.param(shlex.split(found), id=f"{path.name}: {found[:40]}")


@pytest.mark.parametrize("arguments", list(command_lines()))
def test_the_command_line_is_understood(arguments: list[str]) -> None:
    command: click.Command = cli
    context = click.Context(cli, **cli.context_settings)
    while isinstance(command, click.Group):
        command = command.commands[arguments.pop(0)]
    command.make_context("ebbtide", arguments, parent=context)
