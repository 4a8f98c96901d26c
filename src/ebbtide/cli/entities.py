"""The commands on the graph: entities, relations, graph show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ebbtide.cli.help import group
from ebbtide.cli.options import (
    after_option,
    given_only,
    limit_option,
    scope_options,
    step_by_step,
    tag_filter,
    with_store,
)
from ebbtide.cli.output import counted, line, paragraph, printable, styled
from ebbtide.errors import InvalidInput

if TYPE_CHECKING:
    from uuid import UUID

    from rich.console import Console
    from rich.tree import Tree

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.graph import Entity, EntityChange, EntityPage, GraphPath, Neighbourhood, Relation

__all__ = ["entities", "graph", "relations"]


@group(short_help="Whom and what memories speak of: list, get, merge, split, names, undo.")
def entities() -> None:
    """Persons, companies, projects, skills, events, places, products and topics that memories mention."""


@entities.command("list")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="person, company, project, skill, event, …")
@click.option("--text", metavar="TEXT", help="How a word of a name begins.")
@scope_options
@limit_option
@after_option
@with_store
async def list_(memory: AsyncEbbtide, out: Output, limit: int, **given: Any) -> None:
    """List the entities that memories of a scope mention."""
    found = await memory.entities.list(limit=limit, **tag_filter(given))
    out.page(found, lambda console: show_entities(console, found))


def show_entities(console: Console, found: list[Entity]) -> None:
    """A line for each entity."""
    for one in found:
        others = f" ({', '.join(one.aliases)})" if one.aliases else ""
        sure = "" if one.confidence is None else f"  {one.confidence:.0%}"
        line(
            console,
            (f"{one.id}  ", "dim"),
            (one.type.lower(), "cyan"),
            f"  {one.name}{others}",
            (f"{sure}  {counted(one.facts, 'fact')}", "dim"),
        )


@entities.command("get")
@click.argument("entity")
@click.option("--type", metavar="TYPE", help="Which, where several have that name.")
@scope_options
@limit_option
@with_store
async def get(memory: AsyncEbbtide, out: Output, entity: str, limit: int, **given: Any) -> None:
    """Show the ENTITY of an id or a name with its facts and relations."""
    found = await memory.entities.get(entity, limit=limit, **tag_filter(given))
    out.answer(found, lambda console: show_page(console, found))


def show_page(console: Console, page: EntityPage) -> None:
    """The entity, what is known of it, and what holds between it and others."""
    show_entities(console, [page.entity])
    for fact in page.facts:
        line(console, ("  – ", "dim"), fact.content)
    show_relations(console, list(page.relations))


@entities.command("page")
@click.argument("entity")
@click.option("--namespace", metavar="PATH", help="Whose memories it sums up, and where it lies.")
@with_store
async def page(memory: AsyncEbbtide, out: Output, entity: str, namespace: str | None) -> None:
    """Make the page of ENTITY, or bring it up to date."""
    found = await memory.entities.page(entity, namespace=namespace)
    out.answer(found, lambda console: paragraph(console, "no facts" if found is None else found.content))


@entities.command("refresh-pages")
@with_store
@step_by_step
async def refresh_pages(memory: AsyncEbbtide, out: Output) -> None:
    """Bring all pages up to date."""
    changed = await memory.entities.refresh_pages()
    out.answer({"rewritten": changed}, lambda console: line(console, f"{counted(changed, 'page')} rewritten"))


@entities.command("merge")
@click.argument("entity")
@click.argument("other")
@with_store
async def merge(memory: AsyncEbbtide, out: Output, entity: str, other: str) -> None:
    """Make ENTITY and OTHER one, ENTITY."""
    show_change(out, await memory.entities.merge(entity, other))


@entities.command("split")
@click.argument("entity")
@click.option("--memory", "memories", multiple=True, metavar="ID", help="A memory that means the other one.")
@click.option("--alias", "aliases", multiple=True, metavar="NAME", help="A name of the other one.")
@click.option("--name", metavar="NAME", help="What the other one is called.")
@with_store
async def split(memory: AsyncEbbtide, out: Output, entity: str, **given: Any) -> None:
    """Make a part of ENTITY one of its own, by memories or by names."""
    show_change(out, await memory.entities.split(entity, **given_only(given)))


@entities.command("add-alias")
@click.argument("entity")
@click.argument("alias")
@with_store
async def add_alias(memory: AsyncEbbtide, out: Output, entity: str, alias: str) -> None:
    """Give ENTITY the name ALIAS too."""
    show_change(out, await memory.entities.add_alias(entity, alias))


@entities.command("remove-alias")
@click.argument("entity")
@click.argument("alias")
@with_store
async def remove_alias(memory: AsyncEbbtide, out: Output, entity: str, alias: str) -> None:
    """Take the name ALIAS from ENTITY."""
    show_change(out, await memory.entities.remove_alias(entity, alias))


@entities.command("undo")
@click.argument("change_id", metavar="ID")
@with_store
async def undo(memory: AsyncEbbtide, out: Output, change_id: str) -> None:
    """Put back what the change ID did."""
    show_change(out, await memory.entities.undo(change_id))


@entities.command("changes")
@click.option("--entity", metavar="ID", help="Those that have to do with it.")
@limit_option
@after_option
@with_store
async def changes(memory: AsyncEbbtide, out: Output, entity: str | None, limit: int, after: str | None) -> None:
    """List what was done to entities by hand, newest first."""
    found = await memory.entities.changes(entity=entity, limit=limit, after=after)
    out.page(found, lambda console: show_changes(console, found))


def show_changes(console: Console, found: list[EntityChange]) -> None:
    """A line for each change."""
    for one in found:
        show_one_change(console, one)


def show_change(out: Output, done: EntityChange) -> None:
    """The answer of a command that changes entities."""
    out.answer(done, lambda console: show_one_change(console, done))


def show_one_change(console: Console, done: EntityChange) -> None:
    """A line for a change, with the id that undoes it."""
    other = f"  {done.counterpart}" if done.counterpart is not None else ""
    what = f"{done.operation} undone" if done.undone_at is not None else done.operation
    line(console, (what, "bold green"), f"  {done.id}", (f"  {done.entity}{other}", "dim"))


@group(short_help="What memories say holds between entities: list, path.")
def relations() -> None:
    """What holds between entities while the memories that say so do."""


@relations.command("list")
@click.option("--entity", metavar="ID|NAME", help="On either side.")
@click.option("--predicate", metavar="TEXT", help="Such as works_at.")
@click.option("--derived/--said", default=True, help="With what follows from two others, or without.")
@scope_options
@limit_option
@after_option
@with_store
async def list_relations(memory: AsyncEbbtide, out: Output, limit: int, derived: bool, **given: Any) -> None:
    """List what holds."""
    found = await memory.relations.list(limit=limit, derived=derived, **tag_filter(given))
    out.page(found, lambda console: show_relations(console, found))


def show_relations(console: Console, found: list[Relation]) -> None:
    """A line for each relation."""
    for one in found:
        mark = "  (follows)" if one.derived else ""
        line(console, f"{one.subject.name} ", (one.predicate, "cyan"), f" {one.object.name}", (mark, "dim"))


@relations.command("path")
@click.argument("start")
@click.argument("end")
@click.option("--max-hops", type=int, default=4, show_default=True, metavar="N", help="How far, from 1 to 6.")
@scope_options
@with_store
async def path(memory: AsyncEbbtide, out: Output, start: str, end: str, max_hops: int, **given: Any) -> None:
    """Show the shortest way from START to END, two entities by their ids or names."""
    found = await memory.relations.path(start, end, max_hops=max_hops, **tag_filter(given))
    out.answer(found, lambda console: show_path(console, found))


def show_path(console: Console, found: GraphPath | None) -> None:
    """The relations along the way."""
    if found is None:
        line(console, ("no path", "yellow"))
        return
    show_relations(console, list(found.relations))


@group(short_help="Draw what memories say around an entity: show.")
def graph() -> None:
    """The graph of entities and relations as a picture."""


@graph.command("show")
@click.argument("name")
@click.option("--type", metavar="TYPE", help="Which, where several have that name.")
@click.option("--hops", type=int, default=2, show_default=True, metavar="N", help="How far, 1 or 2.")
@click.option("--limit", type=int, default=40, show_default=True, metavar="N", help="How many entities at most.")
@click.option("--svg", metavar="FILE", help="Write an SVG picture there.")
@scope_options
@with_store
async def show(
    memory: AsyncEbbtide, out: Output, name: str, hops: int, limit: int, svg: str | None, **given: Any
) -> None:
    """Draw what is around the entity NAME: as a tree, or with --svg as a picture."""
    found = await memory.entities.neighbourhood(name, hops=hops, limit=limit, **tag_filter(given))
    if svg is not None:
        write_svg(svg, found)
        out.note(f"written to {svg}")
    out.answer(found, lambda console: console.print(tree_of(found)))


def write_svg(file: str, neighbourhood: Neighbourhood) -> None:
    """Write the picture to a file.

    Raises:
        InvalidInput: it cannot be written.
    """
    from ebbtide.graph.draw import svg

    try:
        Path(file).write_text(svg(neighbourhood), encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file!r} cannot be written: {error}.", field="svg", remedy="Check the path.") from None


def tree_of(neighbourhood: Neighbourhood) -> Tree:
    """The entity as a tree: below each what was reached by it, behind how."""
    from rich.tree import Tree

    middle = neighbourhood.entity
    tree = Tree(styled((middle.name, "bold"), (f"  {middle.type.lower()}", "dim")), guide_style="dim")
    places: dict[UUID, Tree] = {middle.id: tree}
    names = {middle.id: printable(middle.name)} | {side.id: side.name for ring in neighbourhood.rings for side in ring}
    for ring in neighbourhood.rings:
        reached = {side.id: side for side in ring}
        below = dict(places)
        for one in neighbourhood.relations:
            for here, there, arrow in ((one.subject, one.object, "→"), (one.object, one.subject, "←")):
                if here.id in below and there.id in reached:
                    known = there.id in places
                    label = styled(
                        (f"{arrow} {one.predicate}  ", "cyan"), names[there.id], (f"  {there.type.lower()}", "dim")
                    )
                    branch = below[here.id].add(label)
                    if not known:
                        places[there.id] = branch
    return tree
