"""The commands on what is laid down: policy set, show, delete, and rules add, list, remove, personal-data, preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from ebbtide.cli.help import group
from ebbtide.cli.options import asked_options, given_only, parse_json, read_input, tag_filter, with_store
from ebbtide.cli.output import line, paragraph
from ebbtide.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.govern.policies import EffectiveField, EffectivePolicy
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.rules import Rule, RuledHit, RulePreview

__all__ = ["policy", "rules"]

NO_POLICY = "No policy: a handle that `as_agent` makes may do nothing; the owner, as here, may do everything."

RULE_OPTIONS = (
    click.option("--bonus", type=float, metavar="X", help="A share of the relevance: 0.1 adds a tenth."),
    click.option("--instruction", metavar="TEXT", help="What heads the memories in a block, or {{content}} in it."),
    click.option("--default-kind", metavar="KIND", help="The kind of what is written there without one."),
    click.option("--personal-data", metavar="MODE", help="allow, redact, drop or quarantine."),
    click.option("--retention-days", type=int, metavar="N", help="For how many days a memory there is kept."),
)


def rule_options(command: Any) -> Any:
    """The options that say what a rule lays down."""
    for option in reversed(RULE_OPTIONS):
        command = option(command)
    return command


@group(short_help="What an agent may read and write: set, show, delete.")
def policy() -> None:
    """The policy of the agent that --agent names, or with --task where one of its tasks differs."""


@policy.command("set")
@click.argument("file", required=False)
@click.option("--default", "own", is_flag=True, help="Its user's own memory; what else is given comes on top.")
@click.option("--read", multiple=True, metavar="PATTERN", help="What enters the context by itself.")
@click.option("--tool-read", multiple=True, metavar="PATTERN", help="What the agent can search on request.")
@click.option("--write", metavar="NAMESPACE", help="Where it writes unless it names a namespace.")
@click.option("--allowed-write", multiple=True, metavar="NAMESPACE", help="Where else it may write.")
@click.option("--top-k", type=int, metavar="N", help="Results of a recall, 1 to 200.")
@click.option("--min-score", type=float, metavar="X", help="The least relevance.")
@click.option("--relative-cutoff", type=float, metavar="X", help="The share of the best relevance to reach.")
@click.option("--profile", metavar="NAME", help="The ranking.")
@click.option("--allow-write/--forbid-write", default=None, help="Whether it writes of itself.")
@click.option("--allow-tool-write/--forbid-tool-write", default=None, help="Whether its tools may write.")
@click.option("--allow-tool-delete/--forbid-tool-delete", default=None, help="Whether its tools may forget.")
@with_store
async def set_(memory: AsyncEbbtide, out: Output, file: str | None, own: bool, **fields: Any) -> None:
    """Keep a policy in place of what it was: the options, over the JSON in FILE or in standard input for -."""
    from ebbtide.govern.policies import Policy

    stated: Any = {} if file is None else parse_json(read_input(file, "policy"), "policy")
    if not isinstance(stated, dict):
        raise InvalidInput("A policy is an object.", field="policy", remedy='Write it as in {"read": ["vector.a"]}.')
    basis = Policy.default().model_dump() if own else {}
    chosen = {name: value for name, value in fields.items() if value is not None and value != ()}
    caller = memory.caller
    warnings = await memory.policies.set(caller.agent, {**basis, **stated, **chosen}, task=caller.task)
    for warning in warnings:
        out.note(warning, style="yellow")
    out.answer(
        {"agent": caller.agent, "task": caller.task, "warnings": warnings},
        lambda console: line(console, ("set", "bold green"), f"  {whose(caller.agent, caller.task)}"),
    )


def whose(agent: str, task: str | None) -> str:
    """The agent and the task whose policy it is."""
    return f"agent {agent}" + (f", task {task}" if task else "")


@policy.command("show")
@with_store
async def show(memory: AsyncEbbtide, out: Output) -> None:
    """Show what holds: each field's value, where it comes from, and its templates filled in for --user and the like."""
    caller = memory.caller
    effective = await memory.policies.effective(caller.agent, caller.task, caller.user, caller.chat, caller.session)
    out.answer(effective, lambda console: show_policy(console, effective))


def show_policy(console: Console, effective: EffectivePolicy) -> None:
    """A line for each field."""
    from ebbtide.govern.policies import Policy

    if not effective.exists:
        line(console, (NO_POLICY, "yellow"))
    for name in Policy.model_fields:
        field: EffectiveField = getattr(effective, name)
        values = ", ".join(cast("list[str]", field.value)) if isinstance(field.value, tuple) else str(field.value)
        line(console, (f"{name:<18}", "bold"), f"{values or '–':<44} ", (field.source, "dim"))
        filled = (field.filled,) if isinstance(field.filled, str) else field.filled or ()
        for path in filled:
            if path not in values:
                line(console, f"{'':<18}", (f"= {path}", "dim"))


@policy.command("delete")
@with_store
async def delete(memory: AsyncEbbtide, out: Output) -> None:
    """Delete the policy; an agent without one may do nothing, a task without one what its agent may."""
    agent, task = memory.caller.agent, memory.caller.task
    await memory.policies.delete(agent, task)
    out.answer(
        {"agent": agent, "task": task, "deleted": True},
        lambda console: line(console, ("deleted", "bold green"), f"  {whose(agent, task)}"),
    )


@group(short_help="What holds for namespaces: add, list, remove, personal-data, preview.")
def rules() -> None:
    """The rules on namespaces: bonuses, instructions, default kinds, personal data and retention."""


@rules.command("add")
@click.argument("pattern")
@rule_options
@with_store
async def add(memory: AsyncEbbtide, out: Output, pattern: str, **fields: Any) -> None:
    """Add a rule for the namespaces that PATTERN covers: ${…} is one segment, * any remainder."""
    rule = await memory.rules.add(pattern, **given_only(fields))
    out.answer(rule, lambda console: show_rule(console, rule))


@rules.command("list")
@with_store
async def list_(memory: AsyncEbbtide, out: Output) -> None:
    """List the rules in the order in which they were added."""
    found = await memory.rules.list()
    out.answer(found, showing(found, show_rule))


def showing(values: list[Any], show_one: Callable[[Console, Any], None]) -> Callable[[Console], None]:
    """Shows each of the values."""

    def show_all(console: Console) -> None:
        for value in values:
            show_one(console, value)

    return show_all


def show_rule(console: Console, rule: Rule) -> None:
    """A rule, with what it lays down."""
    said = given_only(rule.model_dump(include={"default_kind", "personal_data", "retention_days", "instruction"}))
    line(console, (f"{rule.pattern:<36}", "bold"), f"{rule.bonus:+.3g}  ", (str(rule.id), "dim"))
    for name, value in said.items():
        line(console, f"    {name.replace('_', ' ')}: {value}")


@rules.command("remove")
@click.argument("rule_id", metavar="ID")
@with_store
async def remove(memory: AsyncEbbtide, out: Output, rule_id: str) -> None:
    """Remove the rule ID."""
    await memory.rules.remove(rule_id)
    out.answer(
        {"id": rule_id, "removed": True}, lambda console: line(console, ("removed", "bold green"), f"  {rule_id}")
    )


@rules.command("personal-data")
@click.argument("mode")
@with_store
async def personal_data(memory: AsyncEbbtide, out: Output, mode: str) -> None:
    """Lay down what is done with personal data where no rule says it.

    MODE is allow, redact, drop or quarantine; or none, for keeping and marking it.
    """
    chosen: Any = None if mode == "none" else mode
    await memory.rules.set_personal_data(chosen)
    out.answer(
        {"personal_data": chosen}, lambda console: line(console, ("personal data", "bold"), f"  {chosen or 'marked'}")
    )


@rules.command("preview")
@click.argument("pattern")
@click.argument("query")
@rule_options
@asked_options
@with_store
async def preview(memory: AsyncEbbtide, out: Output, pattern: str, query: str, **given: Any) -> None:
    """Show what a rule would change for QUERY, without saving it: ranks and relevance, before and after."""
    fields = ("bonus", "instruction", "default_kind", "personal_data", "retention_days")
    rule = {"pattern": pattern, **given_only({name: given.pop(name) for name in fields})}
    shown = await memory.rules.preview(rule, query, **tag_filter(given))
    out.answer(shown, lambda console: show_preview(console, shown))


def show_preview(console: Console, shown: RulePreview) -> None:
    """A line for each hit: its ranks, its relevances and what it says."""
    if not shown.changed:
        line(console, ("It would change nothing.", "yellow"))
    for hit in shown.hits:
        show_moved(console, hit)
    instructions = {hit.instruction_after for hit in shown.changed if hit.instruction_after != hit.instruction_before}
    for instruction in sorted(text for text in instructions if text):
        paragraph(console, (f"under: {instruction}", "dim"))


def show_moved(console: Console, hit: RuledHit) -> None:
    """One hit under the rules as they are and as they would be."""
    ranks = f"{number(hit.rank_before):>4} → {number(hit.rank_after):<4}"
    values = f"{number(hit.relevance_before)} → {number(hit.relevance_after)}  "
    line(console, (ranks, "bold" if hit.covered else "dim"), (values, "dim"), hit.content)


def number(value: float | None) -> str:
    """A rank or a relevance; a dash for none."""
    return "–" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"
