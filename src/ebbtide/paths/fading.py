"""Forgetting by itself: a memory's curve, what a nightly run would change, and that run on demand."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbtide.checks import check_whole
from ebbtide.forget.decay import FADING_KINDS, FIRST, IMPORTANT, decay, fading_page, next_night, soft_delete
from ebbtide.forget.holds import held_among
from ebbtide.govern.access import ADMIN, OPERATOR, READ, requires
from ebbtide.govern.rules import current_rules, rules_in
from ebbtide.identifiers import parse_id
from ebbtide.paths.manage import memory_seen, note_read
from ebbtide.rank.curve import CurveParameters, course, decayed, recall_probabilities
from ebbtide.types.evidence import Curve, CurvePoint, Faded, FadingPlan, FadingRun

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from ebbtide.engine import Engine
    from ebbtide.rank.candidates import Floats
    from ebbtide.settings import Settings
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory

__all__ = ["plan", "run", "show"]

DAY = timedelta(days=1)
MOST_LISTED = 1_000
POINTS_A_SIDE = 30
SHORTEST_OUTLOOK, LONGEST_OUTLOOK = 30.0, 400.0


@requires(READ)
async def show(engine: Engine, caller: Caller, memory_id: UUID | str) -> Curve:
    """Where a memory is on its forgetting curve. See `AsyncFading.show`."""
    id_, now = parse_id(memory_id, "memory_id"), engine.clock.now()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        memory = await memory_seen(engine, transaction, caller, id_)
        rows = await transaction.named("fade.curve", tenant=caller.tenant, agent=caller.agent, id=id_)
        book = await rules_in(engine, transaction, caller.tenant)
        held = await held_among(transaction, caller.tenant, [id_], now)
    note_read(engine, caller, "forgetting", (id_,))
    return curve_of(
        memory, rows[0], now, engine.settings, enabled=book.forgetting, spared_by=spared_by(memory, bool(held))
    )


def spared_by(memory: Memory, held: bool) -> str | None:
    """Why a memory never fades, None where it may."""
    if memory.status != "active":
        return memory.status
    if memory.maturity != "unconfirmed":
        return memory.maturity
    if memory.superseded_by is not None:
        return "superseded"
    if memory.kind not in FADING_KINDS:
        return "kind"
    if memory.importance >= IMPORTANT:
        return "importance"
    return "hold" if held else None


def curve_of(
    memory: Memory, row: Any, now: datetime, settings: Settings, *, enabled: bool, spared_by: str | None
) -> Curve:
    """A memory's curve from its stored parameters, past and future."""
    stored = CurveParameters(row.half_life, row.difficulty, row.stability)
    today = decayed(stored, max(0, (now - row.decayed_at) // DAY))
    idle = max(0.0, (now - row.last_used_at) / DAY)
    nights = (now - row.decayed_at) / DAY

    def probabilities(ahead: Floats) -> Floats:
        """P so many days from now, without a use until then; negative days look back."""
        return recall_probabilities(idle + ahead, *course(stored, np.floor(nights + ahead)))

    outlook = min(max(idle, 2 * today.half_life, SHORTEST_OUTLOOK), LONGEST_OUTLOOK)
    # One that was used just now has no past to show.
    ahead = np.unique([np.linspace(-idle, 0, POINTS_A_SIDE + 1), np.linspace(0, outlook, POINTS_A_SIDE + 1)])
    points = tuple(
        CurvePoint(
            at=now + timedelta(days=days),
            days=max(0.0, idle + days),
            recall_probability=probability,
            effective_confidence=memory.confidence * probability,
        )
        for days, probability in zip(ahead.tolist(), probabilities(ahead).tolist(), strict=True)
    )
    present = float(probabilities(np.zeros(1))[0])
    return Curve(
        id=memory.id,
        status=memory.status,
        enabled=enabled,
        now=now,
        half_life=today.half_life,
        difficulty=today.difficulty,
        stability=today.stability,
        confidence=memory.confidence,
        access_count=memory.access_count,
        last_used_at=row.last_used_at,
        idle_days=idle,
        recall_probability=present,
        effective_confidence=memory.confidence * present,
        spared_by=spared_by,
        soft_delete_at=None if spared_by else fades_at(memory.confidence, idle, probabilities, now, settings),
        points=points,
    )


def fades_at(confidence: float, idle: float, probabilities: Any, now: datetime, settings: Settings) -> datetime:
    """The first of the coming nights in which the memory has faded if nobody uses it."""
    longest, night = settings.soft_delete_after_days, next_night(now)
    nights = np.arange(0.0, max(0.0, np.ceil(longest - idle)) + 2)
    ahead = (night - now) / DAY + nights
    weak = confidence * probabilities(ahead) < settings.soft_delete_confidence
    faded = (idle + ahead > longest) | ((idle + ahead > settings.soft_delete_idle_days) & weak)
    return night + timedelta(days=float(nights[np.argmax(faded)]))


@requires(ADMIN)
async def plan(engine: Engine, caller: Caller, *, limit: int = 100) -> FadingPlan:
    """What the next nightly run will change. See `AsyncFading.plan`."""
    check_whole(limit, "limit", 0, MOST_LISTED)
    night, after, tenant = next_night(engine.clock.now()), FIRST, caller.tenant
    enabled = (await current_rules(engine, tenant)).forgetting
    listed: list[Faded] = []
    fading = spared = 0
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        decaying = (await transaction.one("fade.undecayed", tenant=tenant, now=night))[0]
    while page := await fading_page(engine, tenant, after, night):
        async with engine.database.transaction(tenant, snapshot=True) as transaction:
            held = await held_among(transaction, tenant, [row.id for row in page], night)
        going = [row for row in page if row.id not in held]
        listed += [faded_of(row, engine.settings) for row in going[: limit - len(listed)]]
        fading, spared, after = fading + len(going), spared + len(held), page[-1].id
    return FadingPlan(
        at=night, enabled=enabled, decaying=decaying, soft_deletions=fading, held=spared, memories=tuple(listed)
    )


def faded_of(row: Any, settings: Settings) -> Faded:
    """A memory that has faded, and why."""
    return Faded(
        id=row.id,
        agent=row.agent,
        namespace=row.namespace,
        kind=row.kind,
        idle_days=row.idle_days,
        effective_confidence=row.effective_confidence,
        reason="idle" if row.idle_days > settings.soft_delete_after_days else "confidence",
    )


@requires(OPERATOR)
async def run(engine: Engine, caller: Caller) -> FadingRun:
    """Do now what the night does. See `AsyncFading.run`."""
    return FadingRun(decayed=await decay(engine, caller.tenant), soft_deleted=await soft_delete(engine, caller.tenant))
