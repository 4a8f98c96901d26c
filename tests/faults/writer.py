"""Who writes without pause, and notes each deed before and after it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from random import Random
from typing import Any
from uuid import UUID

from ebbtide import Ebbtide
from ebbtide.identifiers import new_id
from ebbtide.jobs.upkeep import tidy_tenant
from ebbtide.settings import Settings

SETTINGS = Settings.from_environment(
    {}, in_process_worker=False, scope_cache_seconds=0, purge_after_days=0, pool_connections=2
)
EMBEDDER = "fake:32"
SESSION = "s"


class Writer:
    """Deeds on the memories of one tenant, chosen by chance."""

    def __init__(self, memory: Ebbtide, notes: int, tenant: str) -> None:
        self.memory = memory.scoped(tenant=tenant, session=SESSION)
        self.notes = notes
        self.tenant = tenant
        self.random = Random(tenant)
        self.revisions: dict[UUID, int] = {}
        self.deeds = 0

    def note(self, **line: Any) -> None:
        os.write(self.notes, json.dumps({"tenant": self.tenant, **line}, default=str).encode() + b"\n")

    def text(self) -> str:
        self.deeds += 1
        return " ".join(f"{self.tenant}n{self.deeds}{letter}" for letter in "abc")

    def act(self) -> None:
        """One deed: what is tried is noted first, and what the answer says after it."""
        self.random.choice(self.deeds_now())()

    def deeds_now(self) -> list[Callable[[], None]]:
        deeds: list[Callable[[], None]] = [self.remember, self.remember_many, self.import_records]
        if self.revisions:
            deeds += [self.revise, self.supersede, self.supersede, self.forget, self.forget, self.tidy]
        return deeds

    def remember(self) -> None:
        content = self.text()
        self.note(tries="remember", contents=[content])
        self.took([self.memory.remember(content, session_revision=self.memory.session_revision())])

    def remember_many(self) -> None:
        contents = [self.text() for _ in range(self.random.randint(2, 12))]
        self.note(tries="remember_many", contents=contents)
        self.took(self.memory.remember_many(contents))

    def took(self, answers: list[Any]) -> None:
        assert {one.outcome for one in answers} == {"stored"}
        self.revisions |= {one.memory.id: one.memory.revision for one in answers}
        self.note(did=[one.memory.id for one in answers])

    def import_records(self) -> None:
        now = self.memory.wait_for(self.memory.inner.engine).clock.now()
        records = [
            {"id": str(new_id(now)), "content": self.text(), "session": SESSION}
            for _ in range(self.random.randint(2, 6))
        ]
        ids = [UUID(record["id"]) for record in records]
        self.note(tries="import", contents=[record["content"] for record in records], ids=ids)
        assert self.memory.import_records(records).imported == len(records)
        self.revisions |= dict.fromkeys(ids, 1)
        self.note(did=ids)

    def pick(self) -> UUID:
        return self.random.choice(list(self.revisions))

    def revise(self) -> None:
        id_, content = self.pick(), self.text()
        self.note(tries="revise", id=id_, contents=[content])
        self.revisions[id_] = self.memory.revise(id_, content).revision
        self.note(did=[id_])

    def supersede(self) -> None:
        id_, content = self.pick(), self.text()
        self.note(tries="supersede", id=id_, contents=[content])
        new = self.memory.supersede(id_, content).memory
        assert new is not None
        self.revisions[new.id] = new.revision
        self.note(did=[new.id])

    def forget(self) -> None:
        id_ = self.pick()
        revision = self.memory.get(id_).revision
        self.note(tries="forget", id=id_, contents=[])
        receipt = self.memory.forget(id_, revision)
        del self.revisions[id_]
        self.note(did=[id_], receipt=receipt.model_dump(mode="json"), **self.left())

    def left(self) -> dict[str, Any]:
        """What else there is after a forgetting."""
        return {}

    def tidy(self) -> None:
        async def tidied() -> None:
            await tidy_tenant(await self.memory.inner.engine(), tenant=self.tenant)

        self.note(tries="tidy", contents=[])
        self.memory.wait_for(tidied)
        self.note(did=[])
