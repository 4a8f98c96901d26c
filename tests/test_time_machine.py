"""What was known and what was true at any moment, of any life of memories, against a model that keeps every image."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as machine_settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from ebbtide import Ebbtide
from ebbtide.errors import Conflict, NotFound, StaleRevision
from tests.conftest import Opener
from tests.stores import START

HOUR = timedelta(hours=1)
FIRST, LAST = -12, 60

offsets = st.integers(FIRST, LAST)
maybe_offsets = st.none() | offsets
picks = st.integers(0, 10_000)
numbers = count()


def moment(offset: int | None) -> datetime | None:
    return None if offset is None else START + offset * HOUR


class Hands:
    """A clock that each life sets back to its start."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        return self.at


@dataclass(frozen=True, slots=True)
class Image:
    """What one memory was between two moments of the store's time."""

    content: str
    since: datetime
    revision: int = 1
    importance: float = 0.5
    status: str = "active"
    maturity: str = "unconfirmed"
    confirmed_at: datetime | None = None
    valid_from: datetime | None = None
    invalidated_at: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: UUID | None = None
    until: datetime | None = None

    def known(self, at: datetime) -> bool:
        return self.since <= at and (self.until is None or at < self.until)

    def held(self, at: datetime, valid_at: datetime, *, include_superseded: bool = False) -> bool:
        """Whether a reading at one moment gives this as true at the other."""
        if self.status != "active" or self.maturity == "invalidated":
            return False
        if (self.expires_at is not None and self.expires_at <= at) or (self.valid_from or valid_at) > valid_at:
            return False
        if self.superseded_by is not None and include_superseded:
            return True
        if self.superseded_by is not None:
            return self.invalidated_at is not None and self.invalidated_at > valid_at
        return self.invalidated_at is None or self.invalidated_at > valid_at

    @property
    def stands(self) -> bool:
        """Whether it is in the way of the same words."""
        return self.status == "active" and self.superseded_by is None


class TimeMachine(RuleBasedStateMachine):
    """Random lives of memories under a clock, and random looks at any moment of them."""

    store: Ebbtide
    clock: Hands

    def __init__(self) -> None:
        super().__init__()
        self.images: dict[UUID, list[Image]] = {}
        self.forgotten: set[UUID] = set()

    @initialize()
    def begin(self) -> None:
        self.memory = self.store.scoped(tenant=f"life{next(numbers)}")
        self.clock.at = START
        self.remember(None, None)

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def pick(self, number: int) -> UUID:
        living = sorted(self.images)
        return living[number % len(living)]

    def current(self, id_: UUID) -> Image:
        return self.images[id_][-1]

    def change(self, id_: UUID, **changes: Any) -> None:
        last = self.images[id_][-1]
        self.images[id_][-1] = replace(last, until=self.now)
        self.images[id_].append(replace(last, since=self.now, revision=last.revision + 1, **changes))

    @rule(hours=st.integers(1, 6))
    def advance(self, hours: int) -> None:
        self.clock.at += hours * HOUR

    @rule(start=maybe_offsets, ttl=st.none() | st.integers(1, 24))
    def remember(self, start: int | None, ttl: int | None) -> None:
        content = f"ferry {len(self.images) + len(self.forgotten)} at {self.now.isoformat()} {next(numbers)}"
        expires = None if ttl is None else self.now + ttl * HOUR
        answer = self.memory.remember(content, valid_from=moment(start), expires_at=expires)
        assert answer.outcome == "stored"
        assert answer.memory is not None
        self.images[answer.memory.id] = [Image(content, self.now, valid_from=moment(start), expires_at=expires)]

    @precondition(lambda self: self.images)
    @rule(number=picks)
    def say_again(self, number: int) -> None:
        content = self.current(self.pick(number)).content
        standing = [id_ for id_ in self.images if self.current(id_).stands and self.current(id_).content == content]
        assert len(standing) <= 1
        answer = self.memory.remember(content)
        ended = {id_ for id_ in standing if self.has_ended(self.current(id_))}
        assert answer.outcome == ("duplicate" if standing and not ended else "stored")
        for id_ in ended:
            self.change(id_, status="archived")
        if answer.memory is not None and answer.outcome == "stored":
            self.images[answer.memory.id] = [Image(content, self.now)]

    def has_ended(self, image: Image) -> bool:
        return any(end is not None and end <= self.now for end in (image.expires_at, image.invalidated_at))

    @precondition(lambda self: self.images)
    @rule(number=picks)
    def revise(self, number: int) -> None:
        id_ = self.pick(number)
        content = f"ferry revised {next(numbers)}"
        self.memory.revise(id_, content)
        confirmed = self.current(id_).maturity == "confirmed"
        self.change(id_, content=content, confirmed_at=None, **({"maturity": "unconfirmed"} if confirmed else {}))

    @precondition(lambda self: self.images)
    @rule(number=picks, start=maybe_offsets)
    def supersede(self, number: int, start: int | None) -> None:
        asked = self.pick(number)
        content = f"ferry corrected {next(numbers)}"
        answer = self.memory.supersede(asked, content, valid_from=moment(start))
        assert answer.memory is not None
        head = asked
        while (following := self.current(head).superseded_by) is not None:
            head = following
        old = self.current(head)
        starts = moment(start) or self.now
        end = max(starts, old.valid_from or starts)
        self.change(
            head,
            superseded_by=answer.memory.id,
            maturity="invalidated" if old.maturity == "invalidated" else "superseded",
            invalidated_at=min(end, old.invalidated_at or end),
        )
        self.images[answer.memory.id] = [
            Image(content, self.now, valid_from=starts, importance=max(0.5, old.importance))
        ]

    @precondition(lambda self: self.images)
    @rule(number=picks, at=maybe_offsets)
    def invalidate(self, number: int, at: int | None) -> None:
        id_ = self.pick(number)
        was = self.current(id_)
        self.memory.invalidate(id_, at=moment(at))
        if at is not None:
            self.change(id_, invalidated_at=moment(at))
        elif was.maturity != "invalidated":
            end = was.invalidated_at if was.superseded_by is not None else self.now
            self.change(id_, maturity="invalidated", invalidated_at=end)

    @precondition(lambda self: self.images)
    @rule(number=picks)
    def restore(self, number: int) -> None:
        id_ = self.pick(number)
        was = self.current(id_)
        replaced = was.superseded_by is not None and self.holds_now(was.superseded_by)
        after = replace(was, status="active")
        if was.expires_at is not None and was.expires_at <= self.now:
            after = replace(after, expires_at=None)
        if replaced:
            after = replace(after, maturity="superseded")
        else:
            after = replace(after, superseded_by=None, invalidated_at=None)
            if was.maturity in ("invalidated", "superseded"):
                after = replace(after, maturity="unconfirmed", confirmed_at=None)
        others = [self.current(other) for other in self.images if other != id_]
        in_the_way = after.stands and any(other.stands and other.content == was.content for other in others)
        if in_the_way or (replaced and was.maturity != "invalidated"):
            with pytest.raises(Conflict):
                self.memory.restore(id_)
            return
        self.memory.restore(id_)
        if after != was:
            self.change(id_, **{name: getattr(after, name) for name in [field.name for field in fields(Image)[3:-1]]})

    def holds_now(self, id_: UUID) -> bool:
        image = self.current(id_)
        expired = image.expires_at is not None and image.expires_at <= self.now
        return image.status == "active" and image.maturity != "invalidated" and not expired

    @precondition(lambda self: self.images)
    @rule(number=picks)
    def confirm(self, number: int) -> None:
        id_ = self.pick(number)
        was = self.current(id_)
        if was.status != "active" or was.maturity in ("superseded", "invalidated"):
            with pytest.raises(Conflict):
                self.memory.confirm(id_)
            return
        self.memory.confirm(id_)
        self.change(id_, maturity="confirmed", confirmed_at=self.now)

    @precondition(lambda self: self.images)
    @rule(number=picks, importance=st.sampled_from([0.0, 0.5, 0.9]))
    def weigh(self, number: int, importance: float) -> None:
        id_ = self.pick(number)
        self.memory.update_importance(id_, importance)
        if self.current(id_).importance != importance:
            self.change(id_, importance=importance)

    @precondition(lambda self: len(self.images) > 1)
    @rule(number=picks)
    def forget(self, number: int) -> None:
        id_ = self.pick(number)
        with pytest.raises(StaleRevision):
            self.memory.forget(id_, self.current(id_).revision + 1)
        self.memory.forget(id_, self.current(id_).revision)
        self.forgotten.add(id_)
        self.inherit(id_, self.images.pop(id_)[-1].superseded_by)

    def inherit(self, gone: UUID, heir: UUID | None) -> None:
        """What a forgotten memory had replaced is replaced by its own successor, as if it had never been between."""
        standing = {self.current(id_).content for id_ in self.images if self.current(id_).stands}
        for id_ in sorted(self.images, reverse=True):
            orphan = self.current(id_).superseded_by == gone
            self.images[id_] = [
                replace(image, superseded_by=heir) if image.superseded_by == gone else image
                for image in self.images[id_]
            ]
            if orphan and self.current(id_).stands:
                if self.current(id_).content in standing:
                    self.images[id_][-1] = replace(self.current(id_), status="archived")
                standing.add(self.current(id_).content)

    @rule(as_of=maybe_offsets, valid_at=maybe_offsets, include_superseded=st.booleans())
    def look(self, as_of: int | None, valid_at: int | None, include_superseded: bool) -> None:
        asked: dict[str, Any] = {
            "as_of": moment(as_of), "valid_at": moment(valid_at), "include_superseded": include_superseded,
        }  # fmt: skip
        expected = self.compare(**asked)
        hits = self.memory.recall("ferry", profile="agentium", limit=100, min_score=0.0, **asked)
        assert {hit.content for hit in hits} == expected

    def compare(self, as_of: datetime | None, valid_at: datetime | None, include_superseded: bool) -> set[str]:
        """Compare what can be browsed at a moment with the model; answers with the contents."""
        at = as_of or self.now
        expected = {
            (id_, image.content, image.revision, image.maturity, image.importance)
            for id_, images in self.images.items()
            for image in images
            if image.known(at) and image.held(at, valid_at or at, include_superseded=include_superseded)
        }
        found = self.memory.browse(limit=200, as_of=as_of, valid_at=valid_at, include_superseded=include_superseded)
        assert {(one.id, one.content, one.revision, one.maturity, one.importance) for one in found} == expected
        return {content for _, content, *_ in expected}

    def read(self, id_: UUID) -> None:
        """Compare what is known of a memory, now and through its history, with the model."""
        image, found = self.current(id_), self.memory.get(id_)
        names = [field.name for field in fields(Image) if field.name not in ("since", "until")]
        assert [getattr(found, name) for name in names] == [getattr(image, name) for name in names]
        assert [
            (version.revision, version.content, version.maturity, version.since, version.until)
            for version in self.memory.history(id_)
        ] == [(one.revision, one.content, one.maturity, one.since, one.until) for one in self.images[id_]]

    def teardown(self) -> None:
        if not hasattr(self, "memory"):
            return
        for id_ in self.forgotten:
            for verb in (self.memory.get, self.memory.history, self.memory.restore, self.memory.confirm):
                with pytest.raises(NotFound):
                    verb(id_)
        for id_ in self.images:
            self.read(id_)
        moments = [START + hours * HOUR for hours in (-6, 0, 3, 9, 24)]
        for as_of, valid_at in [(None, at) for at in moments] + [(at, None) for at in moments]:
            self.compare(as_of, valid_at, include_superseded=False)
        assert {record["id"] for record in self.memory.export_records()} == {str(id_) for id_ in self.images}


def test_every_moment_is_told_as_it_was(open_store: Opener) -> None:
    clock = Hands()
    machine = type("Machine", (TimeMachine,), {"store": open_store(clock=clock), "clock": clock})
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        machine,
        settings=machine_settings(
            max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=slow, phases=[Phase.generate]
        ),
    )
