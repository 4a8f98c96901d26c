"""The commands that ask: recall, context, explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ebbtide.cli.help import command
from ebbtide.cli.options import asked_options, tag_filter, text_of, with_store
from ebbtide.cli.output import counted, json_text, line, paragraph, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from ebbtide.cli.output import Output
    from ebbtide.handle import AsyncEbbtide
    from ebbtide.types.recall import Explanation, Hit, Recall, Trace

__all__ = ["context", "explain", "recall", "show_explanation", "show_hit", "why"]

# Parts of a relevance smaller than this explain nothing.
TELLING = 0.005
PARTS = 4


@command(short_help="Ask a question; the memories worth most come back.")
@click.argument("query", required=False)
@asked_options
@click.option("--trace", is_flag=True, help="Also tell what happened to every candidate.")
@with_store
async def recall(memory: AsyncEbbtide, out: Output, query: str | None, trace: bool, **asked: Any) -> None:
    """Recall what is worth most for QUERY; without it, or with -, for what standard input says."""
    recalled = await memory.recall(text_of(query, "query"), trace=trace, **tag_filter(asked))
    for warning in recalled.warnings:
        out.note(warning, style="yellow")
    out.answer(recalled, lambda console: show_recall(console, recalled))
    if not recalled.hits and not out.as_json:
        for namespace in asked["namespaces"]:
            await hint_below(memory, out, namespace)


async def hint_below(memory: AsyncEbbtide, out: Output, namespace: str) -> None:
    """Say how to read below a namespace that holds nothing itself, where something lies there."""
    if "*" in namespace or await memory.browse(namespaces=namespace, limit=1):
        return
    below = f"{namespace}.*"
    if await memory.browse(namespaces=below, limit=1):
        out.note(f"Nothing lies in exactly {namespace}; --namespace '{below}' reads what lies below it.")


def show_recall(console: Console, recalled: Recall) -> None:
    """The hits with their reasons, then the trace where there is one."""
    if not recalled.hits:
        line(console, ("Nothing relevant." if recalled.nothing_relevant else "Nothing.", "yellow"))
    for rank, hit in enumerate(recalled, start=1):
        show_hit(console, rank, hit)
        line(console, (f"    {hit.namespace} · {hit.kind} · {hit.id}", "dim"))
    if recalled.hits and recalled.recall_id is not None:
        line(console, (f"recall {recalled.recall_id}", "dim"))
    if recalled.trace is not None:
        show_trace(console, recalled.trace)


def show_hit(console: Console, rank: int, hit: Hit) -> None:
    """Two lines: what it says, and what it is worth for which reasons."""
    line(console, (f"{rank:>2}  ", "bold cyan"), (hit.content, "bold"))
    line(
        console,
        ("    relevance ", "dim"),
        f"{hit.relevance:.3f}",
        ("  similarity ", "dim"),
        _similarity(hit.similarity),
        ("  why ", "dim"),
        why(hit.contributions),
        ("  disputed" if hit.disputed else "", "yellow"),
        ("  no longer so" if hit.outdated else "", "yellow"),
    )


def why(contributions: Mapping[str, float]) -> str:
    """What a relevance is made of, its largest parts first: `dense 0.43 + lexical 0.32`."""
    parts = sorted(contributions.items(), key=lambda part: -abs(part[1]))[:PARTS]
    told = [f"{name} {value:.2f}" for name, value in parts if abs(value) >= TELLING]
    return " + ".join(told).replace("_", " ") or "nothing"


def _similarity(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def show_trace(console: Console, trace: Trace) -> None:
    """How the search went: its route, its words, its steps, and every candidate that was dropped."""
    steps = ", ".join(f"{name} {value:.1f} ms" for name, value in trace.milliseconds.items())
    console.print()
    line(
        console,
        (f"{trace.profile} over {counted(trace.scope_rows, 'memory')}, {trace.route}: {steps}", "dim"),
    )
    line(console, (f"words: {' '.join(trace.words)}", "dim"))
    if trace.queries:
        line(console, (f"queries: {' · '.join(trace.queries)}", "dim"))
    line(console, (f"intent: {trace.intent}, {trace.intent_confidence:.2f} by {trace.intent_by}", "dim"))
    if trace.routing is not None:
        routing = trace.routing
        about = ", ".join(routing.types) or "no type"
        line(
            console,
            (
                f"routing: {about}, {counted(routing.entities, 'entity')}: {routing.outcome.replace('_', ' ')}",
                "dim",
            ),
        )
    for id_ in trace.resurrected:
        line(console, (f"brought back to life {id_}", "dim"))
    for drop in trace.drops:
        against = "" if drop.value is None else f": {_short(drop.value)} against {_short(drop.threshold)}"
        line(console, (f"dropped {drop.id} by {drop.rule}{against}", "dim"))


def _short(value: float | str | None) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@command(short_help="A block of memories to give to a language model.")
@click.argument("query", required=False)
@asked_options
@click.option(
    "--budget",
    type=int,
    metavar="TOKENS",
    help="The most tokens of the block.  [default: 16000 for several parts]",
)
@click.option("--style", default="text", metavar="STYLE", help="text, or the messages for an API: openai, anthropic.")
@click.option("--select", "selected", multiple=True, metavar="ID", help="A memory to consider before all others.")
@click.option("--project", metavar="NAMESPACE", help="What is found below it gets a section of its own.")
@with_store
async def context(memory: AsyncEbbtide, out: Output, query: str | None, **asked: Any) -> None:
    """Print a block of memories for QUERY, to stand at the end of the last user message.

    With --style openai or anthropic the answer is the list of messages to send, QUERY with the block behind it, whether
    with --json or without. As text, --json tells what is in the block, what was left out, and why.
    """
    asked_for = text_of(query, "query")
    block = await memory.context(asked_for, **tag_filter(asked))
    left_out = counted(len(block.omitted), "memory was left out", "memories were left out")
    if block.omitted and not block.ids:
        out.note(f"Nothing fits into {block.budget} tokens; {left_out}.", style="yellow")
    elif block.omitted:
        out.note(f"{left_out}; --style text --json tells why.")
    messages = None if block.style == "text" else block.messages(asked_for)
    text = block.text if messages is None else json_text(messages)
    # On a terminal the block is made harmless; a pipe gets it as it is.
    shown = f"{text}\n"
    out.answer(messages or block, lambda console: out.write(printable(shown) if console.is_terminal else shown))


@command(short_help="Say why a memory does, or does not, come back.")
@click.argument("query")
@click.argument("memory_id", metavar="ID")
@asked_options
@with_store
async def explain(memory: AsyncEbbtide, out: Output, query: str, memory_id: str, **asked: Any) -> None:
    """Say why the memory ID does, or does not, come back for QUERY."""
    explanation = await memory.explain(query, memory_id, **tag_filter(asked))
    out.answer(explanation, lambda console: show_explanation(console, explanation))


def show_explanation(console: Console, explanation: Explanation) -> None:
    """The decision in a sentence, then the numbers behind it."""
    mark = ("returned", "bold green") if explanation.returned else ("left out", "bold yellow")
    paragraph(console, mark, f"  {explanation.reason}")
    if explanation.relevance is not None:
        paragraph(console, (f"  relevance {explanation.relevance:.3f} = {why(explanation.contributions)}", "dim"))
    if explanation.similarity is not None:
        line(console, (f"  similarity {explanation.similarity:.3f}", "dim"))
