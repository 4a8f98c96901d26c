"""Whatever becomes of facts, what they were read in is outdated as it is defined: when none of them holds any more."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from itertools import count
from typing import Any
from uuid import UUID

import hypothesis.strategies as st
import psycopg
from hypothesis import HealthCheck, Phase
from hypothesis import settings as machine_settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from ebbtide import Ebbtide
from ebbtide.errors import Conflict, NotFound
from ebbtide.models.fake import FakeEmbedder
from ebbtide.types.memory import RESOLUTIONS
from tests.conftest import Opener
from tests.outdated import marks_in
from tests.stores import DIMENSION, SETTINGS, START
from tests.test_time_machine import HOUR, Hands, maybe_offsets, moment

numbers = count()
picks = st.integers(0, 10_000)
sentences = st.sampled_from(["I live in Basel.", "I moved to Zurich.", "I work at Acme.", "I work at Initech now."])
again = st.sampled_from(["Ada{} lives in Basel.", "Ada{} works at Acme."])
manners = st.sampled_from(["", " always", " really", " still", " of course", " happily"])
REFUSED = (Conflict, NotFound)


class Telling(RuleBasedStateMachine):
    """Turns, the facts that are read in them, what others say of the same, and every verb that changes what holds."""

    store: Ebbtide
    clock: Hands
    owner: psycopg.Connection[Any]
    seen: Counter[str]
    vectors: dict[str, Any]

    @initialize()
    def begin(self) -> None:
        self.tenant = f"telling{next(numbers)}"
        self.memory = self.store.scoped(tenant=self.tenant)
        self.clock.at = START
        self.marked: set[UUID] = set()

    def ids(self) -> list[UUID]:
        query = "SELECT id FROM memory WHERE tenant_id = %s AND status <> 'tombstoned' ORDER BY id"
        return [row[0] for row in self.owner.execute(query, [self.tenant])]

    def pick(self, number: int) -> UUID:
        """A memory that is there, most often a fact."""
        query = "SELECT DISTINCT memory_id FROM memory_origin WHERE tenant_id = %s ORDER BY memory_id"
        living = [row[0] for row in self.owner.execute(query, [self.tenant])] if number % 4 else self.ids()
        living = living or self.ids() or [UUID(int=0)]
        return living[number // 4 % len(living)]

    @rule(hours=st.integers(1, 6))
    def advance(self, hours: int) -> None:
        self.clock.at += hours * HOUR

    @rule(said=st.lists(sentences, min_size=1, max_size=2, unique=True))
    def tell(self, said: list[str]) -> None:
        chat = self.memory.scoped(chat="chat:ada")
        turn = chat.remember(f"{' '.join(said)} That is {next(numbers)}.", kind="message", speaker="Ada").memory
        assert turn is not None
        self.memory.extract(ids=[turn.id])

    @rule(number=picks)
    def read_again(self, number: int) -> None:
        with suppress(*REFUSED):
            self.memory.extract(ids=[self.pick(number)])

    @rule(text=again, manner=manners, by=st.sampled_from([None, "rules", "model"]))
    def say(self, text: str, manner: str, by: Any) -> None:
        """Somebody says what a fact says, or nearly so; then the two may be merged."""
        place = "lives_in" if "Basel" in text else "works_at"
        about: dict[str, Any] = {"subject": "Ada", "predicate": place, "kind": "fact"} if by or not manner else {}
        self.memory.remember(text.format(manner), vector=self.vectors[place], **about)
        if by is not None:
            planned = self.memory.consolidate(by=by)
            done = self.memory.consolidate(by=by, dry_run=False, token=planned.token)
            self.seen[f"merged by {by}"] += done.count

    @rule(number=picks, start=maybe_offsets)
    def supersede(self, number: int, start: int | None) -> None:
        with suppress(*REFUSED):
            self.memory.supersede(self.pick(number), f"Ada went to sea {next(numbers)}", valid_from=moment(start))

    @rule(number=picks)
    def supersede_by_nearly_the_same(self, number: int) -> None:
        with suppress(*REFUSED):
            self.memory.supersede(self.pick(number), f"{self.memory.get(self.pick(number)).content}!")

    @rule(number=picks, at=maybe_offsets)
    def invalidate(self, number: int, at: int | None) -> None:
        with suppress(*REFUSED):
            self.memory.invalidate(self.pick(number), at=moment(at))

    @rule(number=picks, verb=st.sampled_from(["restore", "separate", "confirm"]))
    def undo(self, number: int, verb: str) -> None:
        with suppress(*REFUSED):
            getattr(self.memory, verb)(self.pick(number))

    @rule(number=picks)
    def revise(self, number: int) -> None:
        with suppress(*REFUSED):
            self.memory.revise(self.pick(number), f"Ada is revised {next(numbers)}")

    @rule(number=picks)
    def forget(self, number: int) -> None:
        with suppress(*REFUSED):
            id_ = self.pick(number)
            self.memory.forget(id_, self.memory.get(id_).revision)

    @rule(choice=st.sampled_from(RESOLUTIONS))
    def settle(self, choice: str) -> None:
        for dispute in self.memory.conflicts.list()[:1]:
            merged = {"merged": f"Ada did both {next(numbers)}"} if choice == "merge" else {}
            self.memory.conflicts.resolve(dispute.id, choice, **merged)

    @rule(backwards=st.booleans())
    def move_away(self, backwards: bool) -> None:
        records = list(self.memory.export_records())
        there = f"{self.tenant}-{next(numbers)}"
        self.store.scoped(tenant=there).import_records(records[::-1] if backwards else records)
        assert marks_in(self.owner, there)[0] == marks_in(self.owner, self.tenant)[0]

    @invariant()
    def the_marks_are_what_is_so(self) -> None:
        said, so = marks_in(self.owner, self.tenant)
        assert said == so
        self.seen["unmarked"] += bool(self.marked - set(said))
        self.seen["marked"] += bool(set(said) - self.marked)
        self.marked = set(said)


def test_the_marks_are_as_defined_after_any_verbs(open_store: Opener, owner: psycopg.Connection[Any]) -> None:
    clock, seen = Hands(), Counter[str]()
    store = open_store(clock=clock, settings=SETTINGS.model_copy(update={"consolidator": "fake"}))
    basel, acme = asyncio.run(FakeEmbedder(DIMENSION).embed(["Ada lives in Basel.", "Ada works at Acme."]))
    given = {"store": store, "clock": clock, "owner": owner, "seen": seen}
    machine = type("Machine", (Telling,), {**given, "vectors": {"lives_in": basel, "works_at": acme}})
    run_state_machine_as_test(
        machine,
        settings=machine_settings(
            max_examples=25, stateful_step_count=30, deadline=None, phases=[Phase.generate], derandomize=True,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )  # fmt: skip
    assert min(seen[name] for name in ("marked", "unmarked", "merged by rules", "merged by model")) > 0, seen
