"""What an import says has replaced what: of one agent, and in no circle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from ebbtide.errors import InvalidInput, Tombstoned

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.types.caller import Caller
    from ebbtide.write.records import Incoming

__all__ = ["check_successors"]


async def check_successors(transaction: Transaction, caller: Caller, incoming: Sequence[Incoming]) -> None:
    """Let pass only successors that are the agent's own, or not there yet, and that lead to an end.

    Those that are there cannot be forgotten before the transaction ends, so what is stored names none that is gone.

    Raises:
        InvalidInput: naming the line.
        Tombstoned: a successor was forgotten.
    """
    named = [{row.memory.superseded_by for row in one.rows} - {None} for one in incoming]
    asked = [id_ for id_ in set[UUID | None]().union(*named) if id_ is not None]
    if not asked:
        return
    buried = {row[0] for row in await transaction.all("transfer.buried_successors", tenant=caller.tenant, ids=asked)}
    rows = await transaction.all("transfer.successors", tenant=caller.tenant, agent=caller.agent, ids=asked)
    foreign = {id_ for id_, _, same_agent in rows if not same_agent}
    links = {id_: successor for id_, successor, _ in rows} | {one.id: one.row.memory.superseded_by for one in incoming}
    circular = _leading_into_circles(links, (one.id for one in incoming))
    for one, successors in zip(incoming, named, strict=True):
        if not buried.isdisjoint(successors - foreign):
            raise Tombstoned(
                f"Line {one.line}: what superseded it was forgotten for good.",
                field="superseded_by",
                remedy="Leave superseded_by out.",
            )
        if not foreign.isdisjoint(successors):
            raise _refused(one, "superseded_by is no memory of this agent.", "Correct it, or leave it out.")
        if one.id in circular:
            raise _refused(one, "superseded_by leads back to where it began.", "Leave it out of one of those lines.")


def _leading_into_circles(links: Mapping[UUID, UUID | None], starts: Iterable[UUID]) -> set[UUID]:
    """Those of the starts from which the links never come to an end; each link is followed once."""
    circular: set[UUID] = set()
    ending: set[UUID] = set()
    for start in starts:
        path: dict[UUID, None] = {}
        step: UUID | None = start
        while step is not None and step not in ending and step not in circular and step not in path:
            path[step] = None
            step = links.get(step)
        (ending if step is None or step in ending else circular).update(path)
    return circular


def _refused(one: Incoming, message: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"Line {one.line}: {message}", field="superseded_by", remedy=remedy)
