"""Where turns stand in conversations, as an export carries it: their places, and the branches of their chats."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.checks import check_caller
from ebbtide.errors import InvalidInput
from ebbtide.govern.branches import FIRST_BRANCH, known_parent, names_told, readable_places
from ebbtide.govern.namespaces import read_scope
from ebbtide.govern.personal import check_kept
from ebbtide.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.govern.rules import RuleBook
    from ebbtide.types.caller import Caller

__all__ = ["Place", "Standing", "Twig", "check_names_kept", "check_standing", "exported_standings", "write_standings"]

MOST_BRANCHES = 1_000


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a turn on a branch of a chat."""

    chat: str
    branch: str
    place: int


@dataclass(frozen=True, slots=True)
class Twig:
    """A branch of a chat, after which place of which other one it goes on, and where its name may be read."""

    chat: str
    name: str
    parent: str
    forked_after: int
    namespace: str
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a record is a turn, and the branches of those chats."""

    turns: tuple[Place, ...] = ()
    branches: tuple[Twig, ...] = ()


def check_standing(caller: Caller, standing: Standing) -> Standing:
    """The same, if it could be stored: every branch goes back to the first one by those that are named.

    Raises:
        InvalidInput: a name is not acceptable, or a branch is missing or goes on from itself.
    """
    if max(len(standing.turns), len(standing.branches)) > MOST_BRANCHES:
        raise InvalidInput(
            "The record has too many branches.", field="branches", remedy=f"At most {MOST_BRANCHES:,} are kept."
        )
    parents = {(one.chat, one.name): one.parent for one in standing.branches}
    for chat, name in {*parents, *((one.chat, one.branch) for one in standing.turns)}:
        check_caller(replace(caller, chat=chat, branch=name))
        passed: set[str] = set()
        here = name
        while here != FIRST_BRANCH:
            if here in passed or (chat, here) not in parents:
                raise InvalidInput(
                    f"The branch {shown(name)} does not go back to {FIRST_BRANCH!r}.",
                    field="branches",
                    remedy="Name every branch that it goes on from.",
                )
            passed.add(here)
            here = parents[chat, here]
    return standing


def check_names_kept(standing: Standing, rules: RuleBook) -> None:
    """Whether the rules on their namespaces let branches be called so.

    Raises:
        InvalidInput: a name holds personal data that its namespace does not keep.
    """
    for place, one in enumerate(standing.branches):
        check_kept(one.name, f"branches[{place}].name", rules.on(one.namespace).personal_data)


async def exported_standings(
    transaction: Transaction, caller: Caller, ids: Sequence[UUID], readable: Mapping[str, Any]
) -> dict[UUID, dict[str, list[dict[str, Any]]]]:
    """Where memories are turns, as fields of their records; nothing where their `seq` says it all.

    Branches are told as far as the caller may know of them; `readable` says what it may read.
    """
    rows = await transaction.all("transfer.export_turns", tenant=caller.tenant, ids=ids)
    chats = sorted({row[1] for row in rows})
    branches: dict[str, list[dict[str, Any]]] = defaultdict(list)
    names: dict[str, Mapping[str, str]] = {}
    if chats:
        rows_of: dict[str, list[Any]] = defaultdict(list)
        for row in await transaction.named(
            "transfer.export_branches", tenant=caller.tenant, agent=caller.agent, chats=chats
        ):
            rows_of[row.chat].append(row)
        for chat, found in rows_of.items():
            names[chat], known = await _known(transaction, replace(caller, chat=chat), found, readable)
            branches |= {chat: known} if known else {}
    turns: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    plain: set[UUID] = set()
    for id_, chat, branch, place, is_plain in rows:
        told = names[chat].get(branch, branch) if chat in names else branch
        turns[id_].append({"chat": chat, "branch": told, "place": place})
        plain |= {id_} if is_plain and chat not in branches else set()
    fields: dict[UUID, dict[str, list[dict[str, Any]]]] = {}
    for id_, places in turns.items():
        if len(places) > 1 or id_ not in plain:
            within = [one for chat in dict.fromkeys(place["chat"] for place in places) for one in branches[chat]]
            fields[id_] = {"turns": places, **({"branches": within} if within else {})}
    return fields


async def _known(
    transaction: Transaction, caller: Caller, rows: Sequence[Any], readable: Mapping[str, Any]
) -> tuple[Mapping[str, str], list[dict[str, Any]]]:
    """The branches of a chat of which the caller may know, as if there were no others, and by which names."""
    known = read_scope(None, caller)
    seen = [row for row in rows if any(map(known.covers, (row.namespace, *row.places)))]
    names = names_told([row.name for row in seen])
    parents = [known_parent(row, rows, names) for row in seen]
    forks = [(parent or FIRST_BRANCH, -1 if after is None else after) for parent, after in parents]
    places = await readable_places(transaction, caller, readable, forks)
    return names, [
        {
            "chat": row.chat, "name": names[row.name], "parent": names[parent], "forked_after": after,
            "namespace": row.namespace, "created_at": row.created_at,
        }
        for row, (parent, _), after in zip(seen, forks, places, strict=True)
    ]  # fmt: skip


async def write_standings(
    transaction: Transaction, caller: Caller, standings: Sequence[tuple[UUID, Standing]], now: datetime
) -> None:
    """Make memories that were just stored turns where they were. A branch that is known stays as it is."""
    places = [(id_, one) for id_, standing in standings for one in standing.turns]
    if not places:
        return
    twigs: dict[tuple[str, str], Twig] = {}
    for _, standing in standings:
        for one in standing.branches:
            if one.name != FIRST_BRANCH:
                twigs.setdefault((one.chat, one.name), one)
    whose = {"tenant": caller.tenant, "agent": caller.agent}
    if twigs:
        made = list(twigs.values())
        await transaction.run(
            "transfer.insert_branches", **whose, now=now, chats=[one.chat for one in made],
            names=[one.name for one in made], parents=[one.parent for one in made],
            forks=[one.forked_after for one in made], namespaces=[one.namespace for one in made],
            created=[one.created_at for one in made],
        )  # fmt: skip
    await transaction.run(
        "transfer.insert_turns", **whose, ids=[id_ for id_, _ in places], chats=[one.chat for _, one in places],
        branches=[one.branch for _, one in places], places=[one.place for _, one in places],
    )  # fmt: skip
