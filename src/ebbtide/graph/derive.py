"""What follows from two relations: the rules as data, and the derived relations that they give."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller

__all__ = ["RULES", "Rule", "derive", "derive_anew"]

MOST_DERIVED = 500
"""How much is derived of one write; the newest premises come first."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A `first` B and B `second` C give A `conclusion` C. `source` says on what ground."""

    first: str
    second: str
    conclusion: str
    source: str


GEOMETRY = "what lies within is within what that lies within: OGC GeoSPARQL 1.1, sfWithin, which is transitive"
PARTS = "parts of parts are parts: W3C, Simple part-whole relations in OWL ontologies, 2005"
RESIDENCE = "who is in a place is in every place around it: GeoSPARQL's sfWithin, applied to where somebody lives"
MEMBERS = "what belongs to a part belongs to the whole: W3C ORG ontology, memberOf and subOrganizationOf"

# None of them takes a derived relation as a premise, so there are no chains of them and no circles; a path finds those.
# That somebody works where an employer is, is not among them: an employer is in many places.
RULES = (
    Rule("located_in", "located_in", "located_in", GEOMETRY),
    Rule("located_in", "part_of", "located_in", GEOMETRY),
    Rule("part_of", "located_in", "located_in", GEOMETRY),
    Rule("part_of", "part_of", "part_of", PARTS),
    Rule("lives_in", "located_in", "lives_in", RESIDENCE),
    Rule("lives_in", "part_of", "lives_in", RESIDENCE),
    Rule("works_in", "located_in", "works_in", RESIDENCE),
    Rule("works_in", "part_of", "works_in", RESIDENCE),
    Rule("born_in", "located_in", "born_in", RESIDENCE),
    Rule("born_in", "part_of", "born_in", RESIDENCE),
    Rule("works_at", "part_of", "works_at", MEMBERS),
    Rule("member_of", "part_of", "member_of", MEMBERS),
)


async def derive(transaction: Transaction, caller: Caller, relations: Sequence[UUID]) -> None:
    """Store what follows from relations that were said, with any others that were.

    Its id is made of its premises, so that the same conclusion is the same relation again.
    """
    if not relations:
        return
    rows = await transaction.all(
        "graph.consequences",
        tenant=caller.tenant,
        ids=list(relations),
        first=[rule.first for rule in RULES],
        second=[rule.second for rule in RULES],
        conclusions=[rule.conclusion for rule in RULES],
        limit=MOST_DERIVED,
    )
    if not rows:
        return
    first, second, subjects, predicates, objects, memories, others, created = map(list, zip(*rows, strict=True))
    ids = [derived_id(*premises) for premises in zip(first, second, predicates, strict=True)]
    await transaction.run(
        "graph.insert_derived", tenant=caller.tenant, agent=caller.agent, ids=ids, first=first, second=second,
        subjects=subjects, predicates=predicates, objects=objects, memories=memories, others=others, created=created,
    )  # fmt: skip


async def derive_anew(transaction: Transaction, caller: Caller, entities: Sequence[UUID]) -> None:
    """Derive again what follows from all that is said of entities, after relations moved from one to another."""
    await transaction.run("graph.drop_derived", tenant=caller.tenant, entities=list(entities))
    said = await transaction.all("graph.said_of", tenant=caller.tenant, entities=list(entities))
    await derive(transaction, caller, [row[0] for row in said])


def derived_id(first: UUID, second: UUID, predicate: str) -> UUID:
    """The id of what follows from two relations, in the form of a UUIDv8 (RFC 9562 §5.8)."""
    digest = hashlib.sha256(first.bytes + second.bytes + predicate.encode()).digest()[:16]
    bits = int.from_bytes(digest, "big") & ~(0xF << 76) & ~(0x3 << 62)
    return UUID(int=bits | 0x8 << 76 | 0x2 << 62)
