"""Tuning a profile: from feedback on recalls to weights that order hits as they were judged, and keeping them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from anyio import to_thread

from ebbtide.checks import check_flag, check_text, check_whole
from ebbtide.errors import InvalidInput, NotTuned
from ebbtide.govern.access import ADMIN, requires
from ebbtide.govern.profiles import LONGEST_NAME, resolve_profile, save_profile
from ebbtide.rank.fit import FEWEST, fit, measure
from ebbtide.rank.knobs import Knobs, knobs_of, project, with_values
from ebbtide.rank.presets import PRESETS
from ebbtide.rank.replay import replayed, signature_of
from ebbtide.rank.tuned import Tuned, check_tunable, make_tuned, too_few
from ebbtide.read.reinforce import flush
from ebbtide.text import shown

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.rank.candidates import Booleans, Floats, Integers
    from ebbtide.rank.profile import Profile
    from ebbtide.types.caller import Caller

__all__ = ["FEEDBACK", "HIGHEST_SEED", "Progress", "check_name", "keep_tuned", "tune"]

FEEDBACK = "feedback"
HIGHEST_SEED = 2**32 - 1
MOST_JUDGEMENTS = 200_000

MOST_OF_A_USER = 50
"""Recalls of one user that count where others judged too, the newest: nobody can outvote them by judging more."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is of it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Rated hits of m recalls, a row each: what was read of them, of which recall they are, from 0, and at which place
    they came back; whether each was useful; and who judged each recall."""

    readings: Floats
    recall: Integers
    place: Integers
    useful: Booleans
    voters: tuple[tuple[str, str | None], ...]


@requires(ADMIN)
async def tune(
    engine: Engine,
    caller: Caller,
    profile: str | Profile | Mapping[str, Any],
    *,
    save: str | None = None,
    dry_run: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Tuned:
    """Fit a profile's weights to the tenant's feedback on recalls. See `AsyncProfiles.tune`."""
    check_name(save)
    check_flag(dry_run, "dry_run")
    check_whole(seed, "seed", 0, HIGHEST_SEED)
    base = await resolve_profile(engine, caller, profile)
    knobs = knobs_of(base, replays=True)
    check_tunable(knobs, base)
    await flush(engine, caller.tenant)
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.named(
            "lifecycle.judged", tenant=caller.tenant, signature=signature_of(base), limit=MOST_JUDGEMENTS
        )
    judged = await to_thread.run_sync(judged_of, base, knobs, rows)
    objective = partial(order_of_judged, base, knobs, judged)
    found = await to_thread.run_sync(partial(fit, knobs, objective, judged.voters, seed=seed, tell=progress))
    tuned = make_tuned(
        base, knobs, found, source=FEEDBACK, queries=len(judged.voters), seed=seed, at=engine.clock.now()
    )
    return tuned if dry_run else await keep_tuned(engine, caller, tuned, save)


def judged_of(base: Profile, knobs: Knobs, rows: Sequence[Any]) -> Judged:
    """What can be learnt from rated hits: recalls with one that was useful and one that was not, each said once.

    Hits are compared within one recall alone, and only those that were judged: nothing is known of a hit that nobody
    rated, or that was never shown. A recall whose hits were rated as those of another of the same user counts once.

    Raises:
        NotTuned: there are too few of them, or all ratings are alike.
    """
    recalls: dict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        recalls[row.id].append(row)
    kept: list[list[Any]] = []
    said: set[Any] = set()
    users: dict[tuple[str, str | None], int] = defaultdict(int)
    several = len({(row.agent, row.user) for row in rows}) > 1
    anywhere = with_values(base, knobs, project(knobs, knobs.start + 0.1 * knobs.scales(knobs.start)))
    for hits in recalls.values():
        voter = (hits[0].agent, hits[0].user)
        ratings = (voter, frozenset((hit.memory, hit.useful) for hit in hits))
        if ratings in said or len({hit.useful for hit in hits}) < 2 or not can_replay(anywhere, hits):
            continue
        if several and users[voter] == MOST_OF_A_USER:
            continue
        said.add(ratings)
        users[voter] += 1
        kept.append(hits)
    if len(kept) < FEWEST:
        raise lacking(base, rows, len(kept))
    flat = [(number, hit) for number, hits in enumerate(kept) for hit in hits]
    return Judged(
        readings=np.array([hit.readings for _, hit in flat], dtype=np.float64),
        recall=np.array([number for number, _ in flat]),
        place=np.array([hit.place for _, hit in flat]),
        useful=np.array([hit.useful for _, hit in flat]),
        voters=tuple((hits[0].agent, hits[0].user) for hits in kept),
    )


def can_replay(anywhere: Profile, hits: Sequence[Any]) -> bool:
    """Whether hits can be scored under a profile that weighs all that is tuned: nothing of it was hidden in the log."""
    readings = np.array([hit.readings for hit in hits], dtype=np.float64)
    return not np.isnan(replayed(anywhere, readings)).any()


def lacking(base: Profile, rows: Sequence[Any], usable: int) -> NotTuned:
    """The refusal where there is not enough feedback: what there is, and what is missing."""
    classes = {row.useful for row in rows}
    if len(classes) == 1:
        which = "positive" if classes == {True} else "negative"
        return NotTuned(
            f"All {len(rows)} judgements under {base.name} are {which}: they tell no hit from another.",
            remedy="Rate both what was of use and what was not, within the same recall.",
        )
    recalls = f"{FEWEST - usable} more recall{'s' if FEWEST - usable > 1 else ''}"
    remedy = f"Rate hits of {recalls} under {base.name}, in each one useful and one not."
    return too_few(usable, "judged recall", "with both a useful hit and one that was not", remedy)


def order_of_judged(base: Profile, knobs: Knobs, judged: Judged, values: Floats) -> Floats:
    """The measures of each recall's judged hits in the order that the values give them, shape (m, 3).

    Those that were not judged are left out of the list, and do not count as wrong. Source: Sakai, "Alternatives to
    Bpref", SIGIR 2007 (condensed lists).
    """
    scores = replayed(with_values(base, knobs, values), judged.readings)
    order = np.lexsort((judged.place, -scores, judged.recall))
    recall, useful = judged.recall[order], judged.useful[order]
    starts = np.flatnonzero(np.concatenate(([True], recall[1:] != recall[:-1])))
    ranks = np.arange(len(recall)) - starts[recall] + 1
    totals = np.bincount(recall, weights=useful).astype(np.int64)
    return measure(recall[useful], ranks[useful], totals)


def check_name(save: Any) -> None:
    """Raises InvalidInput for a name that no profile can be saved under."""
    if save is None:
        return
    name = check_text(save, "save", LONGEST_NAME)
    if name in PRESETS:
        raise InvalidInput(f"{name} is a preset.", field="save", remedy="Give the tuned profile a name of its own.")
    if not name.isprintable() or not name or name != name.strip():
        raise InvalidInput(
            f"{shown(name)} is no name of a profile.", field="save", remedy="Use up to 64 characters in one line."
        )


@requires(ADMIN)
async def keep_tuned(engine: Engine, caller: Caller, tuned: Tuned, save: str | None) -> Tuned:
    """Save a tuned profile under a name, or under the first that is free of `X-tuned`, `X-tuned-2`, … .

    Raises:
        NotTuned: it is not better than the one it started from by more than noise.
    """
    check_name(save)
    if not isinstance(tuned, Tuned):
        raise InvalidInput(
            f"{shown(tuned)} is nothing that was tuned.", field="tuned", remedy="Give what `tune` answered with."
        )
    if not tuned.better:
        raise NotTuned(
            f"On queries held out, tuning changes nDCG@10 of {tuned.tuned_from} by {tuned.gain:+.3f}, "
            f"95 % between {tuned.gain_low:+.3f} and {tuned.gain_high:+.3f}: no more than noise. Nothing was saved.",
            tuned=tuned,
            remedy=f"Keep {tuned.tuned_from}, or judge more than these {tuned.queries} queries.",
        )
    if save is not None:
        kept = tuned.profile.model_copy(update={"name": save})
        await save_profile(engine, caller, kept)
        return tuned.model_copy(update={"profile": kept, "saved": save})
    stem = tuned.tuned_from.split("-tuned")[0][: LONGEST_NAME - len("-tuned-9999")]
    for number in count(1):
        name = f"{stem}-tuned" if number == 1 else f"{stem}-tuned-{number}"
        kept = tuned.profile.model_copy(update={"name": name})
        if await _add(engine, caller, kept):
            return tuned.model_copy(update={"profile": kept, "saved": name})
    raise AssertionError("the numbers have no end")


async def _add(engine: Engine, caller: Caller, profile: Profile) -> bool:
    """Save a profile unless its name is taken."""
    async with engine.database.transaction(caller.tenant) as transaction:
        added = await transaction.one(
            "govern.add_profile",
            tenant=caller.tenant,
            name=profile.name,
            body=json.dumps(profile.model_dump(mode="json")),
            now=engine.clock.now(),
        )
    return added is not None
