"""A context block for a query: what is found for it, packed into a budget of tokens."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from ebbtide.checks import check_flag, check_word
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.govern.access import READ, WRITE, check_visible, of_itself, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.namespaces import check_pattern
from ebbtide.identifiers import document_of, parse_id
from ebbtide.paths.manage import memory_seen, note_read
from ebbtide.read.block import Layout
from ebbtide.read.branch import asked_turn
from ebbtide.read.entries import Gathered, Writer, entries_of
from ebbtide.read.fill import fill
from ebbtide.read.gather import Links, read_links, read_places
from ebbtide.read.personal import shown
from ebbtide.read.report import hits_of
from ebbtide.read.route import shape_of
from ebbtide.read.scope import ASKED, check_known
from ebbtide.read.serendipity import choose, is_asked_for, read_others
from ebbtide.read.shares import WINDOWS, part_of, shares_of
from ebbtide.recall import note_access, search_and_revive
from ebbtide.types.context import STYLES, ContextBlock, Engagement, Omission
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ebbtide.engine import Engine
    from ebbtide.read.searched import Searched
    from ebbtide.read.serendipity import Sprinkled
    from ebbtide.types.caller import Caller
    from ebbtide.types.context import Reason, Style
    from ebbtide.types.memory import Memory
    from ebbtide.types.recall import Hit

__all__ = ["context", "engaged"]

MOST_SELECTED = 200
KINDS_BESIDE = {intent: window.kinds for intent, window in WINDOWS.items()}


@requires(READ, search=True)
async def context(
    engine: Engine,
    caller: Caller,
    query: str,
    *,
    budget: int | None = None,
    style: Style = "text",
    selected: Sequence[UUID | str] = (),
    project: str | None = None,
    **asked: Any,
) -> ContextBlock:
    """The memories for a query as a block of at most `budget` tokens. See `AsyncEbbtide.context`."""
    check_known(asked, ASKED)
    check_budget(budget)
    check_word(style, "style", STYLES, "a style of a block")
    ids = check_selected(selected)
    if project is not None:
        check_pattern(project, "project", wildcards=False)
    caller = of_itself(caller)
    itself = await omitted_question(engine, caller, query, ids)
    beside: dict[str, Any] = {"kinds_beside": KINDS_BESIDE, "without": [omission.id for omission in itself]}
    searched = await search_and_revive(engine, caller, query, **beside, **asked)
    hits, tokens = hits_of(searched), dict(searched.chosen.tokens)
    inside: tuple[Hit, ...] = ()
    if project is not None:
        narrowed: dict[str, Any] = {**asked, "namespaces": [project, f"{project}.*"]}
        found = await search_and_revive(engine, caller, query, **beside, **narrowed)
        inside = hits_of(found)
        tokens |= found.chosen.tokens
    memories, kept_back = await read_selected(engine, caller, searched, ids, tokens)
    links, places = await read_beside(engine, searched, hits)
    others = await sprinkled(engine, searched, links)
    gathered = Gathered(hits, memories, inside, links, tokens, places, others)
    block, worths = block_of(engine, searched, gathered, [*itself, *kept_back], budget=budget, style=style)
    recall_id = note_returned(engine, searched, {memory.id for memory in memories}, worths)
    return block.model_copy(update={"recall_id": recall_id})


async def omitted_question(
    engine: Engine, caller: Caller, query: str, selected: Collection[UUID]
) -> tuple[Omission, ...]:
    """The query itself, where it was said in the caller's chat before it was asked: a model has it already.

    It is left out of the search, not only of the block: it would be the best hit of all, and others are measured by it.
    """
    if caller.chat is None or not isinstance(cast("Any", query), str):
        return ()
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        turn = await asked_turn(transaction, caller, engine.clock.now(), query)
    if turn is None or turn[0] in selected:
        return ()
    return (Omission(id=turn[0], section="facts", tokens=engine.counter.count(turn[1]), reason="the question itself"),)


def note_returned(
    engine: Engine, searched: Searched, selected: Collection[UUID], worths: Mapping[UUID, float]
) -> UUID | None:
    """Note what is in the block as read: what was selected as asked for by its id, everything else as recalled.

    Answers with the id of the recall in the log, None where none is kept.
    """
    recall_id = note_access(engine, searched, {id_: worth for id_, worth in worths.items() if id_ not in selected})
    if chosen := tuple(id_ for id_ in worths if id_ in selected):
        caller, now = searched.scope.caller, searched.scope.now
        note_read(engine, caller, "get", chosen)
        if searched.scope.as_of is None:
            engine.accesses.add(caller.tenant, chosen, now)
    return recall_id


def block_of(
    engine: Engine,
    searched: Searched,
    gathered: Gathered,
    kept_back: Sequence[Omission],
    *,
    budget: int | None,
    style: Style,
) -> tuple[ContextBlock, dict[UUID, float]]:
    """The block of what was gathered, in the sections and shares that the intent asks for, and what each memory in it
    is worth."""
    window, nonce = WINDOWS[searched.purpose.intent], secrets.token_hex(4)
    zone = ZoneInfo(searched.scope.caller.timezone)
    entries = entries_of(gathered, Writer(searched.rules, zone, nonce, gathered.titled))
    shares = shares_of(window, {part_of(entry.section) for entry in entries}, budget)
    layout = Layout(nonce, window.order if gathered.titled else None)
    filled = fill(entries, layout, shares, engine.counter.count)
    worths: dict[UUID, float] = {}
    for entry in filled.entries:
        for id_ in (entry.id, *entry.others):
            worths.setdefault(id_, entry.worth)
    omitted = dict.fromkeys(entry.id for entry in entries if entry.id not in worths)
    omitted |= dict.fromkeys(omission.id for omission in kept_back)
    block = ContextBlock(
        serendipity=tuple(entry.id for entry in filled.entries if entry.section == "serendipity"),
        text=filled.text,
        tokens=filled.tokens,
        nonce=nonce,
        ids=tuple(worths),
        omitted=tuple(omitted),
        style=style,
        intent=searched.purpose.intent,
        budget=shares.whole,
        sections=filled.sections,
        left_out=(*kept_back, *filled.left_out),
    )
    return block, worths


async def read_selected(
    engine: Engine, caller: Caller, searched: Searched, ids: Sequence[UUID], tokens: dict[UUID, int]
) -> tuple[list[Memory], list[Omission]]:
    """The memories that were selected, in their order, and those that may not be shown; `tokens` learns their lengths.

    Raises:
        NotFound: the agent has no such memory, may not see it, or it was forgotten.
    """
    if not ids:
        return [], []
    scope = searched.scope
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.all(
            "recall.rows" + scope.suffix,
            tenant=caller.tenant,
            agent=caller.agent,
            ids=list(ids),
            as_of=scope.as_of,
            counter=engine.counter.name,
        )
    found = {row[0]: (memory_of(row[:-3]), row[-3]) for row in rows}
    memories: list[Memory] = []
    kept_back: list[Omission] = []
    for id_ in ids:
        memory, length = found.get(id_, (None, None))
        missing = NotFound(
            f"There is no memory {id_}.", field="selected", remedy="Take it out; a forgotten memory is gone."
        )
        if memory is None or memory.status == "tombstoned":
            raise missing
        check_visible(caller, memory.namespace, missing)
        returned = shown(memory, searched.profile, searched.rules)
        if returned is None or memory.status != "active":
            reason: Reason = "withheld" if returned is None else "not active"
            kept_back.append(Omission(id=id_, section="selected", tokens=length or 0, reason=reason))
            continue
        memories.append(returned)
        if length is not None and returned is memory:
            tokens[id_] = length
    return memories, kept_back


async def read_beside(engine: Engine, searched: Searched, hits: Sequence[Hit]) -> tuple[Links, Mapping[UUID, str]]:
    """What the hits are about, where the agent knows any entities, and where in documents they stand."""
    scope = searched.scope
    passages = {hit.id: document for hit in hits if (document := document_of(hit.memory.source)) is not None}
    linked = bool(hits) and (await shape_of(engine, scope)).linked
    if not linked and not passages:
        return Links(), {}
    async with engine.database.transaction(scope.caller.tenant, snapshot=True) as transaction:
        links = Links()
        if linked:
            links = await read_links(engine, transaction, scope, hits, searched.profile, searched.rules)
        return links, await read_places(transaction, scope, passages, searched.profile, searched.rules)


async def sprinkled(engine: Engine, searched: Searched, links: Links) -> tuple[Sprinkled, ...]:
    """At most two memories of other topics for an exploring query, as far as the user cares for them."""
    if not is_asked_for(searched, links):
        return ()
    async with engine.database.transaction(searched.scope.caller.tenant, snapshot=True) as transaction:
        found = await read_others(transaction, engine, searched)
    return choose(searched, [(entity, name, memory_of(row)) for entity, name, row in found])


@requires(READ, WRITE)
async def engaged(engine: Engine, caller: Caller, memory_ids: Any, engaged: bool = True) -> Engagement:
    """Note whether a user engaged with memories of other topics. See `AsyncEbbtide.engaged`."""
    check_flag(engaged, "engaged")
    ids = check_selected([memory_ids] if isinstance(memory_ids, str | UUID) else memory_ids, "memory_ids")
    if not ids:
        raise InvalidInput("No memory is named.", field="memory_ids", remedy="Name those in the block's serendipity.")
    now = engine.clock.now()
    async with engine.database.transaction(caller.tenant) as transaction:
        for id_ in ids:
            await memory_seen(engine, transaction, caller, id_)
        alpha, beta = await transaction.one(
            "serendipity.engage", tenant=caller.tenant, user=caller.user or "", engaged=engaged, now=now
        )
        detail = {"operation": "engaged", "engaged": engaged}
        await write_audit(transaction, caller, "update", [(id_, detail) for id_ in ids], now)
    return Engagement(alpha=alpha, beta=beta)


def check_budget(budget: Any) -> None:
    """Raises InvalidInput where a budget is neither None nor a number of tokens."""
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 0):
        raise InvalidInput(
            "budget must be a whole number of tokens, 0 or more.",
            field="budget",
            remedy="Leave it out for 16,000 in all, and less for each section.",
        )


def check_selected(selected: Any, field: str = "selected") -> list[UUID]:
    """The ids, each once, in their order.

    Raises:
        InvalidInput: it is no list of at most 200 ids.
    """
    if isinstance(selected, str | bytes) or not isinstance(selected, Sequence):
        raise InvalidInput(
            f"{field} must be a list of ids.", field=field, remedy="Give the ids of memories, or leave it out."
        )
    given = cast("Sequence[Any]", selected)
    if len(given) > MOST_SELECTED:
        raise InvalidInput(
            f"{field} has {len(given):,} ids; at most {MOST_SELECTED} are taken.",
            field=field,
            remedy="Select fewer.",
        )
    return list(dict.fromkeys(parse_id(id_, field) for id_ in given))
