"""Asks the classifier, where one is set, to settle what dates and words leave open; its failure settles nothing."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from ebbtide.errors import ModelError
from ebbtide.models.batches import run_batches

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.models.classifier import Judgement
    from ebbtide.write.batch import Batch
    from ebbtide.write.relation import Relation

__all__ = ["classify"]

log = logging.getLogger("ebbtide")

# A write waits for its answers: what a batch has beyond so many conflicts is left to a person.
MOST_ASKED = 20
AT_A_TIME = 4


async def classify(engine: Engine, batch: Batch) -> Batch:
    """The batch with its relations as the classifier sees them: a conflict may become a supersession, or nothing.

    Whatever goes wrong with an answer leaves its conflict one, and never costs the write.
    """
    classifier = engine.classifier
    asked = [relation for relation in batch.relations if relation.kind == "conflict"][:MOST_ASKED]
    if classifier is None or not asked:
        return batch
    judged: dict[int, Judgement] = {}

    async def ask(relation: Relation) -> None:
        try:
            newer = batch.drafts[relation.position].content
            judged[id(relation)] = await classifier.judge(relation.known.content, newer)
        except ModelError as error:
            log.warning("a conflict was not classified and is left to a person: %s", error)

    await run_batches(asked, ask, AT_A_TIME)
    settled: list[Relation] = []
    for relation in batch.relations:
        verdict = judged.get(id(relation), relation.kind)
        if verdict == "supersedes":
            settled.append(replace(relation, kind="supersedes", reason="The classifier says so."))
        elif verdict != "compatible":
            settled.append(relation)
    return replace(batch, relations=settled)
