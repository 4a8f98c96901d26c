"""The options that commands share, and how a command gets its opened store."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from ebbtide.cli.door import as_called_here, field_of
from ebbtide.cli.help import CommonOption
from ebbtide.cli.output import Output
from ebbtide.errors import EbbtideError, Interrupted, InvalidInput
from ebbtide.handle import AsyncEbbtide
from ebbtide.opening import Store
from ebbtide.types.caller import Caller

__all__ = [
    "Place",
    "after_option",
    "asked_options",
    "before_option",
    "common_last",
    "given_only",
    "json_lines",
    "json_option",
    "limit_option",
    "narrowing_options",
    "parse_json",
    "read_input",
    "scope_options",
    "step_by_step",
    "tag_filter",
    "text_of",
    "with_new_store",
    "with_place",
    "with_store",
]

Body = Callable[..., Awaitable[None]]
Decorator = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Which store, and who asks."""

    store: str | None
    tenant: str
    agent: str
    user: str | None
    task: str | None
    chat: str | None
    branch: str | None
    session: str | None
    timezone: str
    embedder: str | None

    @property
    def caller(self) -> Caller:
        """Who asks."""
        return Caller(
            self.tenant, self.agent, self.user, self.task, self.chat, self.session, self.timezone, branch=self.branch
        )

    def store_at(self, location: str | None = None, **more: Any) -> Store:
        """The store, not opened yet; at `location` where that is given."""
        # The empty string stands for what the settings say.
        return Store(location or self.store, embedder=self.embedder or "", **more)

    def open(self, location: str | None = None, **more: Any) -> AsyncEbbtide:
        """A handle on the store for the one who asks."""
        return AsyncEbbtide(self.store_at(location, **more), self.caller)


common_option = partial(click.option, cls=CommonOption)
PLACE_OPTIONS = (
    common_option("--store", metavar="FOLDER|DSN", help="Where memories live; EBBTIDE_STORE otherwise."),
    common_option("--tenant", default="default", show_default=True, metavar="NAME", help="The wall between customers."),
    common_option("--agent", default="default", show_default=True, metavar="NAME", help="Whose memories they are."),
    common_option("--user", metavar="ID", help="On whose behalf."),
    common_option("--task", metavar="ID", help="For which task it is said; narrows no read."),
    common_option("--chat", metavar="ID", help="In which conversation it is said; narrows no read, see --where."),
    common_option("--branch", metavar="NAME", help="On which branch of it."),
    common_option("--session", metavar="ID", help="In which session it is said; narrows no read."),
    common_option(
        "--timezone",
        default="UTC",
        show_default=True,
        metavar="ZONE",
        help="Of plain dates and asked days: Europe/Zurich.",
    ),
    common_option("--embedder", metavar="SPEC", help="local, none, or http://…/v1#MODEL; EBBTIDE_EMBEDDER otherwise."),
    common_option("--json", "as_json", is_flag=True, help="Answer with JSON, errors too."),
    common_option("--debug", is_flag=True, help="Show where an error happened."),
)


def common_last(given: Sequence[str], program: click.Command) -> list[str]:
    """The command line with the options that every command has behind the command, where they stood before it."""
    common = [one for one in program_options() if isinstance(one, click.Option)]
    flags = {name: one.is_flag for one in common for name in one.opts}
    rest, path, moved = list(given), list[str](), list[str]()
    command = program
    while isinstance(command, click.Group) and rest:
        word, equals, _ = rest[0].partition("=")
        if word in flags:
            taken = 1 if flags[word] or equals else 2
            moved += rest[:taken]
            rest = rest[taken:]
        elif word in command.commands:
            command = command.commands[word]
            path.append(rest.pop(0))
        else:
            return list(given)
    return list(given) if isinstance(command, click.Group) else path + moved + rest


def program_options() -> list[click.Parameter]:
    """The options that every command has."""
    return _with(PLACE_OPTIONS, click.command()(lambda: None)).params


def with_place(body: Body) -> Callable[..., None]:
    """Give a command the options every command has; its body gets the place and the output."""

    @wraps(body)
    def run(**given: Any) -> None:
        place = Place(**{field.name: given.pop(field.name) for field in fields(Place)})
        out = Output(given.pop("as_json"))
        # The program's entrance looks for --debug by itself, since the parser may fail before it knows of it.
        given.pop("debug")
        try:
            asyncio.run(_finish(body(place, out, **given)))
        except KeyboardInterrupt as error:
            raise Interrupted(f"Interrupted; {out.kept[-1]}.") from error
        except EbbtideError as error:
            as_called_here(error, click.get_current_context().command)
            raise

    return _with(PLACE_OPTIONS, run)


async def _finish(running: Awaitable[None]) -> None:
    await running


def step_by_step(body: Body) -> Body:
    """For a command that stores in several transactions: interrupted, it says that what was done stays."""

    @wraps(body)
    async def run(memory: AsyncEbbtide, out: Output, **given: Any) -> None:
        out.keeps("what was done until then stays")
        await body(memory, out, **given)

    return run


def with_store(body: Body) -> Callable[..., None]:
    """Give a command the options every command has; its body gets the opened store, which must be there already."""
    return _with_opened(body, must_exist=True)


def with_new_store(body: Body) -> Callable[..., None]:
    """Give a command the options every command has; its body gets the opened store, made where there is none."""
    return _with_opened(body, must_exist=False)


def _with_opened(body: Body, *, must_exist: bool) -> Callable[..., None]:
    @wraps(body)
    async def opened(place: Place, out: Output, **given: Any) -> None:
        async with place.open(must_exist=must_exist) as memory:
            await body(memory, out, **given)

    return with_place(opened)


def _with(options: tuple[Decorator, ...], command: Any) -> Any:
    for option in reversed(options):
        command = option(command)
    return command


def json_option(name: str, help_: str) -> Decorator:
    """An option whose value is JSON."""

    def parsed(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
        try:
            return None if value is None else parse_json(value, field_of(parameter))
        except InvalidInput as error:
            raise as_called_here(error, context.command) from None

    return click.option(name, callback=parsed, metavar="JSON", help=help_)


NARROWING_OPTIONS = (
    click.option("--namespace", "namespaces", multiple=True, metavar="PATTERN", help="vector.team.* or an exact path."),
    click.option("--kind", "kinds", multiple=True, metavar="KIND", help="fact, preference, howto, correction, …"),
    click.option("--label", "labels", multiple=True, metavar="LABEL", help="One of these labels."),
    click.option("--tag", "tags_all", multiple=True, metavar="TAG", help="All of these tags."),
    click.option("--tag-any", "tags_any", multiple=True, metavar="TAG", help="Any of these tags."),
    click.option("--tag-none", "tags_none", multiple=True, metavar="TAG", help="None of these tags."),
    click.option("--tag-exact", "tags_exact", multiple=True, metavar="TAG", help="Exactly these tags."),
    json_option("--where", 'Fields and metadata: {"customer": 7}.'),
)

SCOPE_OPTIONS = (
    *NARROWING_OPTIONS,
    click.option("--as-of", metavar="TIME", help="What the store knew then."),
    click.option("--valid-at", metavar="TIME", help="What was true then."),
    click.option("--include-superseded", is_flag=True, help="Also what was replaced meanwhile."),
)

ASKED_OPTIONS = (
    click.option("--profile", metavar="NAME|JSON", help="tide, ontheia, agentium, ibex, eryx, or one of your own."),
    click.option("--intent", metavar="INTENT", help="auto, decision, comparative, relationship, temporal, …"),
    *SCOPE_OPTIONS,
    click.option("--limit", type=int, metavar="N", help="How many at most.  [default: the profile's, 10 of tide]"),
    click.option("--min-score", type=float, metavar="X", help="The least relevance."),
    click.option("--min-similarity", type=float, metavar="X", help="The least similarity."),
    json_option("--vector", "The query's vector, where you have it."),
    click.option("--rerank/--no-rerank", default=None, help="Have the reranker order the best anew, or not."),
)


limit_option = click.option("--limit", type=int, default=50, show_default=True, metavar="N", help="How many at most.")
after_option = click.option("--after", metavar="ID", help="The last one seen, to continue behind it.")
before_option = click.option("--before", type=int, metavar="NUMBER", help="Only those before this one, to continue.")


def narrowing_options(command: Any) -> Any:
    """The options that say which memories. They become arguments with `tag_filter`."""
    return _with(NARROWING_OPTIONS, command)


def scope_options(command: Any) -> Any:
    """The options that say which memories, and as of when. They become arguments with `tag_filter`."""
    return _with(SCOPE_OPTIONS, command)


def asked_options(command: Any) -> Any:
    """The options of everything that searches. They become arguments with `tag_filter`."""
    return _with(ASKED_OPTIONS, command)


def tag_filter(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a read as the handle's arguments: what was not given is left out, the tags make one filter."""
    asked = given_only({name: value for name, value in given.items() if not name.startswith("tags_")})
    tags = {name: given[f"tags_{name}"] for name in ("any", "all", "none", "exact") if given[f"tags_{name}"]}
    if given.get("rerank") is False:
        asked["rerank"] = False
    profile = asked.get("profile")
    if isinstance(profile, str) and profile.lstrip().startswith("{"):
        asked["profile"] = parse_json(profile, "profile")
    return {**asked, "tags": tags} if tags else asked


def given_only(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given: neither absent nor an empty list nor an unset switch."""
    return {name: value for name, value in options.items() if value is not None and value is not False and value != ()}


def parse_json(
    text: str, field: str, *, line: int | None = None, remedy: str = 'Write it as in {"customer": 7}.'
) -> Any:
    """The value of a JSON text, or of the line of that number.

    Raises:
        InvalidInput: it is not JSON; the error says where it ceases to be.
    """
    name = field if line is None else f"Line {line} of the {field}"
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"column {error.colno}" if line is not None else f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(f"{name} is not JSON: {error.msg}, {where}.", field=field, remedy=remedy) from None
    except ValueError:
        raise InvalidInput(f"{name} holds a number of too many digits.", field=field, remedy=remedy) from None
    except RecursionError:
        raise InvalidInput(f"{name} is nested too deep.", field=field, remedy="Flatten it.") from None


def read_input(source: str | None, field: str) -> str:
    """The text of a file, or of standard input where the source is `-` or absent.

    Raises:
        InvalidInput: there is no such file, its text is not UTF-8, or nothing is piped in.
    """
    if source is None and sys.stdin.isatty():
        raise InvalidInput(f"No {field} was given.", field=field, remedy="Give it as an argument, or pipe it in.")
    try:
        return (sys.stdin.buffer.read() if source in (None, "-") else Path(source).read_bytes()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"The {field} is not UTF-8.", field=field, remedy="Convert it to UTF-8 first.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(
            f"{source!r} cannot be read: {reason}.", field=field, remedy="Check the path, or pipe it in."
        ) from None


def text_of(argument: str | None, field: str) -> str:
    """The argument itself, or standard input where it is `-` or absent."""
    return read_input(argument, field).rstrip("\n") if argument in (None, "-") else argument


def json_lines(text: str, field: str) -> dict[int, Any]:
    """The values of JSON Lines by the numbers of their lines; blank ones are skipped.

    Raises:
        InvalidInput: a line is not JSON; the error gives its number.
    """
    return {
        number: parse_json(line, field, line=number, remedy='Write one object a line, as in {"content": "It rained."}.')
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    }
