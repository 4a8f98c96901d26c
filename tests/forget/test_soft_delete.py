"""What fades: which memories the night deletes softly, what that means for each verb, and the way back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ebbtide import AsyncEbbtide, Policy, Settings
from ebbtide.clock import FixedClock
from ebbtide.errors import Conflict, Forbidden, InvalidInput, NotFound
from ebbtide.forget.decay import next_night
from ebbtide.jobs.fading import fade_tenant
from ebbtide.models.fake import FakeEmbedder
from ebbtide.read.reinforce import flush
from tests.forget.support import Owner, contents
from tests.stores import SETTINGS

DAY = timedelta(days=1)


async def night(memory: AsyncEbbtide) -> None:
    await fade_tenant(await memory.engine(), tenant=memory.caller.tenant)


async def fading(memory: AsyncEbbtide, clock: FixedClock, **fields: Any) -> Any:
    """A memory that has faded by now: unused for more than a year."""
    told = (await memory.remember("The ferry leaves at nine.", **fields)).memory
    clock.advance(366 * DAY)
    return told


async def test_it_is_off_until_it_is_switched_on(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    told = await fading(async_memory, clock)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "active"
    await async_memory.forgetting.enable()
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "deleted"


async def test_it_can_be_switched_off_again(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock)
    await async_memory.forgetting.disable()
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "active"
    switched = [entry.detail for entry in await async_memory.audit.entries(action="status")]
    assert switched == [{"operation": "forgetting", "to": "off"}, {"operation": "forgetting", "to": "on"}]


@pytest.mark.parametrize(
    ("days", "confidence", "status"),
    [
        (180.5, 0.1, "deleted"),
        (180.0, 0.1, "active"),
        (179.0, 0.0, "active"),
        (365.0, 1.0, "deleted"),
        (365.5, 1.0, "deleted"),
        (100.0, 0.2, "active"),
    ],
)
async def test_after_180_days_what_is_worth_less_than_025_goes(
    async_memory: AsyncEbbtide, clock: FixedClock, days: float, confidence: float, status: str
) -> None:
    await async_memory.forgetting.enable()
    told = (await async_memory.remember("x", confidence=confidence)).memory
    clock.advance(days * DAY)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == status


@pytest.mark.parametrize(("days", "status"), [(365.0, "active"), (365.001, "deleted")])
async def test_after_365_days_everything_goes_however_firmly_it_is_held(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner, days: float, status: str
) -> None:
    await async_memory.forgetting.enable()
    told = (await async_memory.remember("x", confidence=1.0)).memory
    owner.execute(
        "INSERT INTO strength (tenant_id, memory_id, half_life, stability, difficulty, decayed_at)"
        " VALUES ('default', %s, 365, 2, 1, %s)",
        [told.id, clock.now() + days * DAY],
    )
    clock.advance(days * DAY)
    shown = await async_memory.forgetting.show(told.id)
    assert shown.effective_confidence == pytest.approx(1.0, abs=0.01)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == status


async def test_the_limits_are_settings(dsn: str, clock: FixedClock, embedder: FakeEmbedder) -> None:
    limits = {"soft_delete_idle_days": 10, "soft_delete_after_days": 40, "soft_delete_confidence": 0.5}
    settings = Settings.from_environment({}, **{**SETTINGS.model_dump(), **limits})
    async with AsyncEbbtide.open(dsn, clock=clock, settings=settings, embedder=embedder) as memory:
        await memory.forgetting.enable()
        weak = (await memory.remember("weak", confidence=0.3)).memory
        firm = (await memory.remember("firm", confidence=1.0)).memory
        clock.advance(11 * DAY)
        await night(memory)
        assert contents(await memory.browse()) == ["firm"]
        clock.advance(30 * DAY)
        await night(memory)
        assert await memory.browse() == []
        assert [(await memory.get(one.id)).status for one in (weak, firm)] == ["deleted", "deleted"]


@pytest.mark.parametrize("kind", ["fact", "message", "note", "learning", "episode"])
async def test_these_kinds_fade(async_memory: AsyncEbbtide, clock: FixedClock, kind: str) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock, kind=kind)
    assert (await async_memory.forgetting.show(told.id)).spared_by is None
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "deleted"


@pytest.mark.parametrize("kind", ["chunk", "howto", "entity", "relation", "preference", "correction"])
async def test_these_kinds_never_fade(async_memory: AsyncEbbtide, clock: FixedClock, kind: str) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock, kind=kind)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "active"
    assert (await async_memory.forgetting.show(told.id)).spared_by == "kind"


@pytest.mark.parametrize(("importance", "status"), [(0.79, "deleted"), (0.8, "active"), (1.0, "active")])
async def test_what_is_important_never_fades(
    async_memory: AsyncEbbtide, clock: FixedClock, importance: float, status: str
) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock, importance=importance)
    spared = "importance" if status == "active" else None
    assert (await async_memory.forgetting.show(told.id)).spared_by == spared
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == status


async def test_what_was_confirmed_never_fades(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.forgetting.enable()
    told = (await async_memory.remember("x")).memory
    await async_memory.confirm(told.id)
    clock.advance(1_000 * DAY)
    await night(async_memory)
    shown = await async_memory.forgetting.show(told.id)
    assert (shown.status, shown.spared_by, shown.soft_delete_at) == ("active", "confirmed", None)


async def test_what_a_legal_hold_covers_never_fades_while_it_lasts(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock, tags=["case"])
    hold = await async_memory.holds.place(tags=["case"], reason="case 12")
    assert (await async_memory.forgetting.show(told.id)).spared_by == "hold"
    plan = await async_memory.forgetting.plan()
    assert (plan.soft_deletions, plan.held) == (0, 1)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "active"
    await async_memory.holds.release(hold.id)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "deleted"


async def test_what_was_superseded_or_is_wrong_is_left_as_it_is(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.forgetting.enable()
    old = (await async_memory.remember("The ferry leaves at eight.")).memory
    await async_memory.supersede(old.id, "The ferry leaves at nine.")
    wrong = (await async_memory.remember("The ferry never leaves.")).memory
    await async_memory.invalidate(wrong.id)
    clock.advance(400 * DAY)
    await night(async_memory)
    assert [(await async_memory.get(one.id)).status for one in (old, wrong)] == ["active", "active"]
    assert await async_memory.browse() == []


@pytest.mark.parametrize("use", ["recall", "revise", "mention", "importance"])
async def test_a_use_keeps_a_memory(async_memory: AsyncEbbtide, clock: FixedClock, use: str) -> None:
    await async_memory.forgetting.enable()
    told = (await async_memory.remember("The ferry leaves at nine.", confidence=1.0)).memory
    clock.advance(200 * DAY)
    if use == "recall":
        await async_memory.recall("ferry")
        await flush(await async_memory.engine())
    elif use == "revise":
        await async_memory.revise(told.id, "The ferry leaves at ten.")
    elif use == "mention":
        assert (await async_memory.remember("The ferry leaves at nine.")).outcome == "duplicate"
    else:
        await async_memory.update_importance(told.id, 0.1)
    clock.advance(170 * DAY)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "active"
    clock.advance(200 * DAY)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "deleted"


async def test_an_imported_memory_is_idle_from_the_import_on(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.forgetting.enable()
    old = "2020-01-01T00:00:00Z"
    record = {"content": "The ferry leaves at nine.", "created_at": old, "updated_at": old, "confidence": 1.0}
    await async_memory.import_records([{**record, "last_accessed_at": old}])
    (told,) = await async_memory.browse()
    assert told.created_at.year == told.last_accessed_at.year == 2020
    shown = await async_memory.forgetting.show(told.id)
    assert (shown.last_used_at, shown.idle_days) == (clock.now(), 0.0)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "active"
    clock.advance(366 * DAY)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "deleted"


async def test_it_is_in_no_search_and_no_listing_and_readable_by_its_id(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock)
    await night(async_memory)
    await async_memory.forgetting.disable()
    for profile in ("tide", "ontheia", "agentium", "ibex", "eryx"):
        assert len(await async_memory.recall("ferry", profile=profile, min_similarity=0)) == 0
    assert await async_memory.browse() == []
    assert await async_memory.browse(include_superseded=True) == []
    assert (await async_memory.context("ferry")).ids == ()
    read = await async_memory.get(told.id)
    assert (read.content, read.status, read.revision) == (told.content, "deleted", 2)
    assert read.updated_at == told.updated_at
    explained = await async_memory.explain("ferry", told.id)
    assert (explained.stage, explained.rule, explained.value) == ("scope", "status", "deleted")
    (version, current) = await async_memory.history(told.id)
    assert (version.status, current.status, current.since) == ("active", "deleted", clock.now())
    assert len(await async_memory.recall("ferry", as_of=told.created_at + DAY)) == 1


async def test_the_audit_says_from_what_to_what_and_by_whom(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock)
    await night(async_memory)
    entry = (await async_memory.audit.entries(action="status"))[0]
    assert (entry.agent, entry.memory_id, entry.detail["from"], entry.detail["to"]) == (
        "ebbtide", told.id, "unconfirmed", "deleted",
    )  # fmt: skip
    assert (entry.detail["operation"], entry.detail["revision"]) == ("fade", 2)
    await async_memory.audit.seal()
    assert (await async_memory.audit.verify()).valid


async def test_restore_brings_it_back(async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock)
    await night(async_memory)
    restored = await async_memory.restore(told.id)
    assert (restored.status, restored.revision) == ("active", 3)
    assert contents(await async_memory.browse()) == [told.content]
    assert owner.execute("SELECT deleted_at FROM memory").fetchone() == (None,)
    entry = (await async_memory.audit.entries(action="status"))[0]
    assert (entry.detail["from"], entry.detail["to"]) == ("deleted", "active")
    clock.advance(DAY)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "active"


async def test_where_the_same_is_said_anew_the_old_one_cannot_be_restored(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock)
    await night(async_memory)
    assert (await async_memory.remember(told.content)).outcome == "stored"
    with pytest.raises(Conflict):
        await async_memory.restore(told.id)


async def test_it_is_exported_and_imported_as_it_is(
    async_memory: AsyncEbbtide, clock: FixedClock, owner: Owner
) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock)
    await night(async_memory)
    (record,) = [record async for record in async_memory.export_records()]
    assert (record["id"], record["status"]) == (str(told.id), "deleted")
    other = async_memory.scoped(tenant="other")
    await other.import_records([record])
    assert (await other.get(told.id)).status == "deleted"
    (again,) = [record async for record in other.export_records()]
    assert again == record


async def test_it_can_be_forgotten_for_good(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock)
    await night(async_memory)
    receipt = await async_memory.forget(told.id, 2)
    assert (await async_memory.verify_receipt(receipt)).valid
    with pytest.raises(NotFound):
        await async_memory.get(told.id)


async def test_a_filter_finds_it_to_forget(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock, tags=["old"])
    await night(async_memory)
    assert (await async_memory.forget_where(tags=["old"])).ids == (told.id,)


async def test_the_plan_says_what_the_run_then_does(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    weak = (await async_memory.remember("weak", confidence=0.1)).memory
    clock.advance(200 * DAY)
    await async_memory.recall("weak")
    await flush(await async_memory.engine())
    idle = (await async_memory.remember("idle", confidence=1.0)).memory
    clock.advance(190 * DAY)
    late = (await async_memory.remember("late", confidence=1.0)).memory
    clock.advance(179 * DAY)
    plan = await async_memory.forgetting.plan()
    assert (plan.enabled, plan.decaying, plan.soft_deletions, plan.held) == (False, 1, 2, 0)
    assert {one.id: one.reason for one in plan.memories} == {weak.id: "idle", idle.id: "idle"}
    # From 9 o'clock to 3:37 in the night.
    assert plan.at == datetime(2027, 9, 23, 3, 37, tzinfo=UTC)
    assert [one.idle_days for one in plan.memories] == pytest.approx([369 + (18 * 60 + 37) / 1440] * 2)
    assert (await async_memory.forgetting.plan(limit=1)).memories == plan.memories[:1]
    clock.advance(plan.at - clock.now())
    assert (await async_memory.forgetting.run()).model_dump() == {"decayed": 1, "soft_deleted": 0}
    await async_memory.forgetting.enable()
    assert (await async_memory.forgetting.plan()).enabled is True
    assert (await async_memory.forgetting.run()).model_dump() == {"decayed": 0, "soft_deleted": 2}
    assert (await async_memory.forgetting.run()).model_dump() == {"decayed": 0, "soft_deleted": 0}
    assert contents(await async_memory.browse()) == ["late"]
    assert (await async_memory.get(late.id)).status == "active"


@pytest.mark.parametrize(("idle", "planned"), [(180.0, 1), (179.2, 0)])
async def test_the_plan_is_of_the_coming_night_and_so_is_the_curve(
    async_memory: AsyncEbbtide, clock: FixedClock, idle: float, planned: int
) -> None:
    told = (await async_memory.remember("x", confidence=1.0)).memory
    clock.advance(idle * DAY)
    plan = await async_memory.forgetting.plan()
    assert plan.at > clock.now()
    assert plan.soft_deletions == planned
    shown = await async_memory.forgetting.show(told.id)
    assert (shown.soft_delete_at == plan.at) is bool(planned)


@pytest.mark.parametrize("hours", [1, 24, 48])
async def test_a_curve_that_only_a_judgement_made_is_planned_as_it_decays(
    async_memory: AsyncEbbtide, clock: FixedClock, hours: int
) -> None:
    told = (await async_memory.remember("x")).memory
    await async_memory.feedback(told.id, "positive")
    clock.advance(timedelta(hours=hours))
    plan = await async_memory.forgetting.plan()
    clock.advance(plan.at - clock.now())
    assert (await async_memory.forgetting.run()).decayed == plan.decaying == int(hours > 1)


@pytest.mark.parametrize(
    ("now", "night_at"),
    [
        ("2026-03-02T09:00+00:00", "2026-03-03T03:37+00:00"),
        ("2026-03-02T03:36:59.999999+00:00", "2026-03-02T03:37+00:00"),
        ("2026-03-02T03:37+00:00", "2026-03-03T03:37+00:00"),
        ("2026-03-02T01:00+05:00", "2026-03-02T03:37+00:00"),
        ("2026-12-31T21:00-05:00", "2027-01-01T03:37+00:00"),
    ],
)
def test_the_next_night_is_at_the_hour_of_the_job(now: str, night_at: str) -> None:
    assert next_night(datetime.fromisoformat(now)) == datetime.fromisoformat(night_at)


async def test_the_plan_names_the_confidence_where_that_is_the_reason(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    await async_memory.remember("x", namespace="vector.team")
    clock.advance(200 * DAY)
    (faded,) = (await async_memory.forgetting.plan()).memories
    assert (faded.reason, faded.namespace, faded.kind, faded.agent) == ("confidence", "vector.team", "fact", "default")
    assert faded.effective_confidence < 0.25


async def test_the_curve_says_when_a_memory_will_have_faded(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    await async_memory.forgetting.enable()
    told = (await async_memory.remember("x")).memory
    clock.advance(10 * DAY)
    shown = await async_memory.forgetting.show(told.id)
    assert shown.soft_delete_at == datetime(2026, 8, 30, 3, 37, tzinfo=UTC)
    assert shown.enabled is True
    clock.advance(170 * DAY)
    await night(async_memory)
    assert (await async_memory.get(told.id)).status == "active"
    clock.advance(DAY)
    assert (await async_memory.forgetting.show(told.id)).soft_delete_at == datetime(2026, 8, 31, 3, 37, tzinfo=UTC)
    await night(async_memory)
    shown = await async_memory.forgetting.show(told.id)
    assert (shown.status, shown.spared_by, shown.soft_delete_at) == ("deleted", "deleted", None)


async def test_the_curve_runs_from_the_last_use_over_now_into_the_future(
    async_memory: AsyncEbbtide, clock: FixedClock
) -> None:
    told = (await async_memory.remember("x", confidence=0.8)).memory
    clock.advance(10 * DAY)
    shown = await async_memory.forgetting.show(told.id)
    first, last = shown.points[0], shown.points[-1]
    assert (first.at, first.days, first.recall_probability) == (told.created_at, 0.0, pytest.approx(1.0))
    assert first.effective_confidence == pytest.approx(0.8)
    assert last.at > clock.now() + 30 * DAY
    probabilities = [point.recall_probability for point in shown.points]
    assert probabilities == sorted(probabilities, reverse=True)
    present = next(point for point in shown.points if point.at == clock.now())
    assert present.recall_probability == pytest.approx(shown.recall_probability)
    assert shown.effective_confidence == pytest.approx(0.8 * shown.recall_probability)
    assert shown.recall_probability == pytest.approx(0.995**10 * 2 ** -((10 / (30 * 0.995**10)) ** (2.5 * 0.995**10)))


@pytest.mark.parametrize("limit", [-1, 1_001, None, True, 1.5, "x"])
async def test_a_limit_out_of_range_is_refused(async_memory: AsyncEbbtide, limit: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await async_memory.forgetting.plan(limit=limit)
    assert refusal.value.field == "limit"


@pytest.mark.parametrize("id_", [None, "x", b"x", 7, "\0"])
async def test_what_is_no_id_is_refused(async_memory: AsyncEbbtide, id_: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await async_memory.forgetting.show(id_)
    assert refusal.value.field == "memory_id"


async def test_each_verb_needs_its_scope(async_memory: AsyncEbbtide) -> None:
    told = (await async_memory.remember("x", namespace="vector.team")).memory
    await async_memory.policies.set("bot", Policy(read=("vector.team",)))
    reader = async_memory.scoped(agent="bot").as_agent("bot", ["memory:read"])
    for refused in (
        reader.forgetting.enable, reader.forgetting.disable, reader.forgetting.plan, reader.forgetting.run,
    ):  # fmt: skip
        with pytest.raises(Forbidden):
            await refused()
    with pytest.raises(NotFound):
        await reader.forgetting.show(told.id)
    admin = async_memory.as_agent("bot", ["memory:admin"])
    await admin.forgetting.enable()
    await admin.forgetting.plan()
    with pytest.raises(Forbidden):
        await admin.forgetting.run()
    with pytest.raises(Forbidden):
        await admin.forgetting.show(told.id)
    await async_memory.as_agent("bot", ["operator"]).forgetting.run()


async def test_a_tenant_fades_for_itself_alone(async_memory: AsyncEbbtide, clock: FixedClock) -> None:
    other = async_memory.scoped(tenant="other")
    await async_memory.forgetting.enable()
    told = await fading(async_memory, clock)
    beside = (await other.remember("The ferry leaves at nine.")).memory
    clock.advance(366 * DAY)
    for handle in (async_memory, other):
        await night(handle)
    assert (await async_memory.get(told.id)).status == "deleted"
    assert (await other.get(beside.id)).status == "active"
