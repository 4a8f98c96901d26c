"""The command `tune`: weights that fit feedback, or a data set."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ebbtide.cli.help import command
from ebbtide.cli.options import with_place
from ebbtide.cli.output import line
from ebbtide.errors import NotTuned

if TYPE_CHECKING:
    from rich.console import Console

    from ebbtide.cli.options import Place
    from ebbtide.cli.output import Output, Tell
    from ebbtide.rank.tuned import Tuned, TuneScores

__all__ = ["tune"]

FEEDBACK = "feedback"


@command(short_help="Fit a ranking's weights to feedback, or to a data set.")
@click.argument("profile")
@click.option(
    "--from", "source", default=FEEDBACK, show_default=True, metavar="FILE", help="feedback, or a data set as for eval."
)
@click.option("--format", "format_", default="ebbtide", show_default=True, metavar="NAME", help="ebbtide or locomo.")
@click.option("--save", metavar="NAME", help="The name to save it under; PROFILE-tuned unless given.")
@click.option("--dry-run", is_flag=True, help="Only show what it would be.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="What the queries are shared out by.")
@with_place
async def tune(
    place: Place, out: Output, profile: str, source: str, format_: str, save: str | None, dry_run: bool, seed: int
) -> None:
    """Fit the weights of the ranking PROFILE, and save them as one of its own where they are better by more than noise.

    They are fitted to one part of the queries and judged on the part held out. Gates and limits stay.
    """
    try:
        with out.progress() as tell:
            if source == FEEDBACK:
                async with place.open(must_exist=True) as memory:
                    tuned = await memory.profiles.tune(profile, save=save, dry_run=dry_run, seed=seed, progress=tell)
            else:
                tuned = await tune_on_data(place, profile, source, format_, save, dry_run, seed, tell)
    except NotTuned as refusal:
        if refusal.tuned is not None:
            show_tuned(out.console(), cast("Tuned", refusal.tuned))
        raise
    out.answer(tuned, lambda console: show_tuned(console, tuned))


async def tune_on_data(
    place: Place,
    profile: str,
    source: str,
    format_: str,
    save: str | None,
    dry_run: bool,
    seed: int,
    tell: Tell,
) -> Tuned:
    """Tune on a data set, in a throwaway store; a built-in ranking that is not saved needs no other."""
    from ebbtide.evaluate.datasets import load_dataset
    from ebbtide.evaluate.tune import tune_on
    from ebbtide.paths.tune import check_name
    from ebbtide.rank.strategies import BUILT_IN

    # Before a run of minutes, and not when it is to be saved.
    check_name(save)
    scopes = load_dataset(source, format_)
    fitted = partial(tune_on, scopes, source=Path(source).name, seed=seed, embedder=place.embedder or "", progress=tell)
    if dry_run and profile in BUILT_IN:
        return await fitted(BUILT_IN[profile])
    async with place.open(must_exist=True) as memory:
        tuned = await fitted(await memory.profiles.get(profile))
        return tuned if dry_run else await memory.profiles.keep(tuned, save)


def show_tuned(console: Console, tuned: Tuned) -> None:
    """The scores before and after, on what was fitted to and on what was held out, then the weights."""
    width = max(len(tuned.tuned_from), len("tuned")) + 2
    line(console, (f"{'':<10}{'':<{width}}{'nDCG@10':>9}{'recall@10':>11}{'MRR':>8}", "dim"))
    for part, before, after in (
        ("trained", tuned.baseline_train, tuned.tuned_train),
        ("held out", tuned.baseline_held_out, tuned.tuned_held_out),
    ):
        line(console, f"{part:<10}{tuned.tuned_from:<{width}}{_row(before)}")
        line(console, f"{'':<10}", (f"{'tuned':<{width}}", "bold"), _row(after))
    style = "bold green" if tuned.better else "bold yellow"
    line(
        console,
        (f"gain {tuned.gain:+.3f}", style),
        f"  95 % between {tuned.gain_low:+.3f} and {tuned.gain_high:+.3f}, "
        f"{tuned.queries} queries in {tuned.folds} parts",
    )
    longest = max(map(len, tuned.weights_before))
    for name, before in tuned.weights_before.items():
        after = tuned.weights_after[name]
        line(console, f"  {name:<{longest}}  {before:>8.4g}  ", ("→", "dim"), f"  {after:.4g}")
    if tuned.saved is not None:
        line(console, ("saved", "bold green"), f"  {tuned.saved}")


def _row(scores: TuneScores) -> str:
    return f"{scores.ndcg_at_10:>9.3f}{scores.recall_at_10:>11.3f}{scores.mrr:>8.3f}"
