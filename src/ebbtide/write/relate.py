"""What drafts have to do with what is remembered: near duplicates, contradictions, newer values of one property."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ebbtide.errors import Conflict
from ebbtide.graph.names import fold_name, predicate_of
from ebbtide.write.extract.rules import PAST_PREDICATES
from ebbtide.write.near import LEAST_SIMILARITY, nearest
from ebbtide.write.relation import Known, Relation
from ebbtide.write.update import Statement, best_fit, may_update
from ebbtide.write.validate import DEFAULT_KIND
from ebbtide.write.wording import contradict, differ, plain_words, read_wording, stem
from ebbtide.write.words import MULTI_VALUED

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.write.batch import Batch
    from ebbtide.write.validate import Checked

__all__ = ["NEAR_DUPLICATE", "check_compared", "relate"]

NEAR_DUPLICATE = 0.92
"""The cosine that near duplicates lie above."""

# So many statements on one property are compared with a new one.
MOST_COMPARED = 20
SHARED_WORDS = 0.5
PAST_BEGINNINGS = ("was_", "used_to_", "former_")
MULTI_VALUED_STEMS = frozenset(map(stem, MULTI_VALUED))


async def relate(engine: Engine, caller: Caller, batch: Batch, known: set[tuple[str, bytes]], now: datetime) -> Batch:
    """The batch with what its new drafts have to do with live memories and with each other.

    A draft that says what it supersedes is not compared; nor is a turn of a conversation, or an episode, which tells of
    several, save by its subject, since people repeat and contradict themselves as they talk; nor a passage of a
    document, which is many statements and not one, and whose next version says by itself what holds now.
    """
    seen = set(known)
    fresh: list[int] = []
    for position, identity in enumerate(batch.identities()):
        draft = batch.drafts[position]
        alone = draft.supersedes is not None or draft.document is not None
        if identity not in seen and batch.statuses[position] == "active" and not alone:
            seen.add(identity)
            fresh.append(position)
    near = await _near(engine, caller, batch, fresh, now)
    found: dict[tuple[int, UUID | int], Relation] = {}
    for position, one, cosine in near:
        relation = _by_wording(position, batch.drafts[position], one, cosine)
        if relation and not (relation.kind == "conflict" and _of_one_text(batch, position, one)):
            found[position, one.place] = relation
    if engine.settings.find_updates:
        news = [
            (position, one, cosine)
            for position, one, cosine in near
            if not (_of_one_text(batch, position, one) or _told_later(batch, position, one))
        ]
        found |= {(update.position, update.known.place): update for update in _updates(caller, batch, news, now)}
    properties_of = [position for position in fresh if _is_single_valued(batch.drafts[position])]
    same = await _same_property(engine, caller, batch, properties_of, now)
    for position, one in same:
        if not _speak_of_the_same(batch.drafts[position], one):
            continue
        judged = found.pop((position, one.place), None)
        if _says_the_same(batch.drafts[position], one):
            judged = Relation(position, one, "near_duplicate", "They say the same of their subject.")
        elif judged is None or judged.kind != "near_duplicate":
            judged = _by_dates(position, batch.drafts[position], one, judged)
        if judged is not None:
            found[position, one.place] = judged
    compared: dict[int, set[UUID]] = {position: set() for position in properties_of}
    for position, one in same:
        if isinstance(one.place, UUID):
            compared[position].add(one.place)
    relations = sorted(_one_future(found.values()), key=lambda relation: relation.position)
    return replace(batch, relations=relations, compared=compared)


async def check_compared(transaction: Transaction, caller: Caller, batch: Batch, now: datetime) -> None:
    """Make sure that nobody has spoken of the same properties since the batch was compared, nor can until it is stored.

    Raises:
        Conflict: another writer has; the caller compares anew.
    """
    if not batch.compared:
        return
    namespaces = sorted({batch.drafts[position].namespace for position in batch.compared})
    await transaction.run("conflict.lock_properties", tenant=caller.tenant, agent=caller.agent, namespaces=namespaces)
    rows = await _read_same_property(transaction, caller, batch, list(batch.compared), now)
    if any(row[1] not in batch.compared[row[0]] for row in rows):
        raise Conflict("Another writer spoke of the same subject at the same moment.", remedy="Try again.")


async def _near(
    engine: Engine, caller: Caller, batch: Batch, fresh: Sequence[int], now: datetime
) -> list[tuple[int, Known, float]]:
    """The statements near to each draft that has a vector and is neither a turn of a conversation nor an entity's page.

    A page only says what facts say.
    """
    vectors = {
        position: vector
        for position in fresh
        if (vector := batch.vectors[position]) is not None
        and batch.drafts[position].kind != "episode"
        and (caller.chat is None or batch.drafts[position].seq is None)
        and not batch.drafts[position].appended
        and batch.drafts[position].kind != "entity"
    }
    if not vectors:
        return []
    hinted = {position for position in vectors if _may_update(engine, batch.drafts[position])}
    pairs = await nearest(engine, caller, vectors, [draft.namespace for draft in batch.drafts], now, wide=hinted)
    stored = sorted({place for _, place, _ in pairs if isinstance(place, UUID)})
    statements: dict[UUID | int, Known] = {}
    if stored:
        async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
            rows = await transaction.all(
                "conflict.statements", tenant=caller.tenant, agent=caller.agent, ids=stored, now=now
            )
        statements = {row[0]: Known(*row) for row in rows}
    for _, place, _ in pairs:
        if isinstance(place, int):
            statements[place] = Known.of(place, batch.drafts[place], caller.user)
    return [(position, statements[place], cosine) for position, place, cosine in pairs if place in statements]


async def _same_property(
    engine: Engine, caller: Caller, batch: Batch, asked: Sequence[int], now: datetime
) -> list[tuple[int, Known]]:
    """The statements on the same subject as each draft's, stored ones and earlier ones of the batch."""
    if not asked:
        return []
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await _read_same_property(transaction, caller, batch, asked, now)
        related = rows and any(batch.drafts[position].relation for position in asked)
        ids = sorted({row[1] for row in rows}) if related else []
        objects = dict(await transaction.all("conflict.objects", tenant=caller.tenant, ids=ids)) if ids else {}
    found = [(row[0], Known(*row[1:], objects=objects.get(row[1], ()))) for row in rows]
    earlier: dict[Any, list[int]] = defaultdict(list)
    for position in asked:
        draft = batch.drafts[position]
        same = earlier[draft.namespace, draft.subject, draft.predicate]
        found += [(position, Known.of(place, batch.drafts[place], caller.user)) for place in same[-MOST_COMPARED:]]
        same.append(position)
    return found


async def _read_same_property(
    transaction: Transaction, caller: Caller, batch: Batch, asked: Sequence[int], now: datetime
) -> Sequence[Any]:
    drafts = [batch.drafts[position] for position in asked]
    return await transaction.all(
        "conflict.same_subject",
        tenant=caller.tenant,
        agent=caller.agent,
        now=now,
        places=list(asked),
        namespaces=[draft.namespace for draft in drafts],
        subjects=[draft.subject for draft in drafts],
        predicates=[draft.predicate for draft in drafts],
        rows=MOST_COMPARED,
    )


def _is_single_valued(draft: Checked) -> bool:
    """Whether a draft names a subject, and a property that has one value at a time."""
    if draft.subject is None:
        return False
    return draft.predicate is None or not (_is_past(draft.predicate) or predicate_of(draft.predicate) in MULTI_VALUED)


def _is_past(predicate: str | None) -> bool:
    """Whether a predicate says what was so once, of which a subject may have several."""
    name = predicate_of(predicate or "")
    return name in PAST_PREDICATES or name.startswith(PAST_BEGINNINGS)


def _of_one_text(batch: Batch, position: int, known: Known) -> bool:
    """Whether a draft and a statement were read from one text, or one from the other: no text is news of itself."""
    origin = batch.origins[position]
    if origin is None:
        return False
    return batch.origins[known.place] == origin if isinstance(known.place, int) else known.place in origin.sources


def _told_later(batch: Batch, position: int, known: Known) -> bool:
    """Whether a statement was told after what a draft is read from only now, so that the draft is no news of it."""
    origin = batch.origins[position]
    if origin is None or not origin.sources or isinstance(known.place, int):
        return False
    return (known.told_by or known.place) > max(origin.sources)


def _says_the_same(draft: Checked, known: Known) -> bool:
    """Whether two statements on one property relate their subject to the same, and neither denies the other."""
    if draft.relation is None or fold_name(draft.relation.object.name) not in known.objects:
        return False
    return read_wording(draft.content).negations == read_wording(known.content).negations


def _speak_of_the_same(draft: Checked, known: Known) -> bool:
    """Whether two statements on a subject are on one property of it.

    Where none is named, they are if the shorter one shares half of the words that could name it with the other.
    """
    if draft.predicate is not None:
        return True
    one, other = properties(draft.content, draft.subject), properties(known.content, draft.subject)
    shared = one & other
    return bool(shared) and len(shared) >= SHARED_WORDS * min(len(one), len(other))


def properties(content: str, subject: str | None) -> set[str]:
    """The words of a statement that could name what it says of its subject: neither names nor many-valued verbs."""
    wording = read_wording(content)
    named = {stem(word) for word in (*wording.names, *wording.numbers)} if wording.capitals else set[str]()
    first = content.split(maxsplit=1)[0].lower() if wording.capitals else ""
    # The first word is capitalised for being the first.
    named.discard(stem(first))
    return plain_words(wording) - named - set(read_wording(subject or "").stems) - MULTI_VALUED_STEMS


def _may_update(engine: Engine, draft: Checked) -> bool:
    """Whether a draft could say that something changed, so that what it changes is sought farther off."""
    return engine.settings.find_updates and may_update(draft.content, draft.kind or DEFAULT_KIND)


def _updates(caller: Caller, batch: Batch, near: Sequence[tuple[int, Known, float]], now: datetime) -> list[Relation]:
    """What drafts replace by their own words, each at most one of the statements near to it."""
    grouped: dict[int, list[tuple[Known, float]]] = defaultdict(list)
    for position, known, cosine in near:
        if not known.turn and known.user == caller.user:
            grouped[position].append((known, cosine))
    replaced: set[UUID | int] = set()
    found: list[Relation] = []
    for position in sorted(grouped):
        draft = batch.drafts[position]
        standing = [(known, cosine) for known, cosine in grouped[position] if known.place not in replaced]
        fit = best_fit(
            Statement(draft.content, draft.kind or DEFAULT_KIND, draft.valid_from or draft.observed_at, draft.speaker),
            [(_statement(one, now), cosine) for one, cosine in standing],
        )
        if fit is None:
            continue
        place, update = fit
        known = standing[place][0]
        if update.kind == "supersedes":
            replaced.add(known.place)
            found.append(Relation(position, known, "supersedes", "It says what changed.", update.confidence))
        else:
            reason = f"The newer one may be news of the older one (confidence {update.confidence:.2f})."
            found.append(Relation(position, known, "conflict", reason))
    return found


def _statement(known: Known, now: datetime) -> Statement:
    ended = known.invalidated_at is not None and known.invalidated_at <= now
    return Statement(
        known.content,
        known.kind,
        known.valid_from or known.observed_at,
        known.speaker,
        confirmed=known.confirmed,
        past=ended or _is_past(known.predicate),
    )


def _one_future(relations: Iterable[Relation]) -> list[Relation]:
    """The relations; of what follows on a draft only the first, since that ends it."""
    first: dict[int, Relation] = {}
    others: list[Relation] = []
    for relation in relations:
        if relation.kind != "precedes":
            others.append(relation)
            continue
        known = first.get(relation.position)
        if known is None or cast("datetime", relation.known.valid_from) < cast("datetime", known.known.valid_from):
            first[relation.position] = relation
    return [*others, *first.values()]


def _by_wording(position: int, draft: Checked, known: Known, cosine: float) -> Relation | None:
    """A contradiction, a near duplicate, or nothing, by what two near statements say differently."""
    if cosine <= LEAST_SIMILARITY:
        return None
    one, other = read_wording(draft.content), read_wording(known.content)
    if contradict(one, other):
        return Relation(position, known, "conflict", "One says what the other denies.")
    if cosine > NEAR_DUPLICATE and not differ(one, other):
        return Relation(position, known, "near_duplicate", "They say nearly the same.")
    return None


def _by_dates(position: int, draft: Checked, known: Known, stated: Relation | None) -> Relation | None:
    """A supersession where both starts are known and one is later; where one is not, what the draft has `stated`.

    Where neither settles it, a conflict.

    A draft that holds from an earlier moment on than what is known is its past, and ends where that begins.
    """
    old, new, end = known.valid_from, draft.valid_from, known.invalidated_at
    if end is not None and new is not None and end <= new:
        return None
    if old is not None and new is not None and old < new and end is None:
        return Relation(position, known, "supersedes", "It holds from a later moment on.")
    if old is not None and new is not None and new < old and end is None:
        return Relation(position, known, "precedes", "It holds until the other does.")
    if (old is None or new is None) and stated is not None and stated.kind == "supersedes":
        return stated
    reason = "It is not known which of them holds since when."
    if old is not None and new is not None:
        reason = "Both hold from the same moment on." if old == new else "They hold at the same time."
    return Relation(position, known, "conflict", reason)
