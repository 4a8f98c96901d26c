"""How commands explain themselves: their own options first, and below them those that every command has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Command", "CommonOption", "Group", "command", "group"]


class CommonOption(click.Option):
    """An option that every command has."""


class Command(click.Command):
    """A command whose own options stand first in its help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its own options, then those of every command."""
        own: list[tuple[str, str]] = []
        common: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                (common if isinstance(parameter, CommonOption) else own).append(record)
        for title, records in (("Options", own), ("Options of every command", common)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002 (click's signature)
        """The sentence that says what it does, whole."""
        told = self.short_help or (self.help or "").partition("\n\n")[0]
        return " ".join(told.split())


class Group(click.Group):
    """A group of such commands."""

    command_class: type[click.Command] | None = Command


def command(name: str | None = None, **given: Any) -> Callable[[Callable[..., Any]], Command]:
    """As `click.command`, of this kind."""
    return click.command(name, cls=Command, **given)


def group(name: str | None = None, **given: Any) -> Callable[[Callable[..., Any]], Group]:
    """As `click.group`, of this kind."""
    return click.group(name, cls=Group, **given)
