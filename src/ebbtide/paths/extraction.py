"""Extraction: from a text, or from stored memories, to the facts they state, written by the write path itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ebbtide.checks import check_flag, check_moment, check_text, check_word
from ebbtide.errors import InvalidInput, ModelError
from ebbtide.govern.access import READ, check_changeable, is_readable, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.graph.check import check_named, check_related
from ebbtide.graph.write import Said, write_graph
from ebbtide.identifiers import parse_id
from ebbtide.models.batches import run_batches
from ebbtide.paths.manage import browse, missing, note_read
from ebbtide.read.moments import asked_window
from ebbtide.read.scope import NARROWED, check_known
from ebbtide.read.seen import seen
from ebbtide.remember import remember_many
from ebbtide.text import fold
from ebbtide.types.extraction import Extracted, Extraction, Findings, Found, FoundFact, Mentioned, Name
from ebbtide.types.graph import EntityType, Named, Related
from ebbtide.types.memory import Draft
from ebbtide.write.echo import blanked
from ebbtide.write.extract.rules import EXTRACTOR, Dated
from ebbtide.write.extract.rules import extract as extract_by_rules
from ebbtide.write.fence import fenced
from ebbtide.write.origins import Origin
from ebbtide.write.rows import memory_of

if TYPE_CHECKING:
    from uuid import UUID

    from ebbtide.engine import Engine
    from ebbtide.models.extractor import Extractor
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory, Remembered

__all__ = ["Source", "extract", "extract_from", "source_of"]

PAGE = 200
LONGEST_NAMESPACE = 1_000
REQUESTS_AT_ONCE = 4
EXTRACTORS = ("rules", "model")
ANSWER_TAG = "run_output"
# What is derived already is not read again.
DERIVED_KINDS = frozenset({"entity", "relation"})
# A moment that nothing relative is counted from: only dates said in full are read where nobody knows when it was said.
SOMEWHEN = datetime(2100, 1, 1, tzinfo=UTC)
SENTENCE_ENDS = ".!?…。 "


@dataclass(frozen=True, slots=True)
class Source:
    """A text to read: who speaks in it, when it was noticed, and the memory it is the text of.

    `speaker` is None where nobody knows, and empty where "I" is a machine.
    """

    text: str
    speaker: str | None
    observed_at: datetime | None
    memory: Memory | None = None


Read = tuple[Source, Findings, str | None]
"""A source, what was found in it, and why nothing could be."""


@requires(READ)
async def extract(
    engine: Engine,
    caller: Caller,
    text: str | None = None,
    *,
    ids: Sequence[UUID | str] | UUID | str | None = None,
    write: bool = True,
    extractor: str | None = None,
    speaker: str | None = None,
    observed_at: Any = None,
    namespace: str | None = None,
    session_revision: int | None = None,
    progress: Callable[[int], None] | None = None,
    **narrowed: Any,
) -> Extraction:
    """Find the facts of a text or of memories, and write them. See `AsyncEbbtide.extract`."""
    check_known(narrowed, NARROWED)
    check_flag(write, "write")
    if namespace is not None:
        check_text(namespace, "namespace", LONGEST_NAMESPACE)
    scope = {name: value for name, value in narrowed.items() if value is not None}
    if sum((text is not None, ids is not None, bool(scope))) != 1:
        raise InvalidInput(
            "One of text, ids and a scope is to be given.",
            field="text",
            remedy="Give a text, or the ids of memories, or namespaces, kinds, labels, tags or where.",
        )
    model = model_of(engine, extractor)
    done = 0
    found: list[Extracted] = []
    async for page in _pages(engine, caller, text, ids, scope, speaker, observed_at):
        read = await read_all(page, model, caller.timezone)
        written = await write_all(engine, caller, read, model, namespace, session_revision) if write else {}
        found += [told(one, written.get(place, ())) for place, one in enumerate(read)]
        done += len(page)
        if progress is not None:
            progress(done)
    errors = [one.error for one in found if one.error is not None]
    shown = tuple(one for one in found if text is not None or one.facts or one.names or one.rejected or one.error)
    return Extraction(extractor=_name_of(model), read=done, texts=shown, failed=len(errors))


def model_of(engine: Engine, extractor: str | None) -> Extractor | None:
    """The model that reads, None for the rules: what is asked for, or else what is set.

    Raises:
        InvalidInput: there is no such extractor, or no model is set.
    """
    if extractor is None:
        return engine.extractor
    check_word(extractor, "extractor", EXTRACTORS, "an extractor")
    if extractor == "rules":
        return None
    if engine.extractor is None:
        raise InvalidInput(
            "No model extracts here.", field="extractor", remedy="Set `extractor` to an endpoint with its model."
        )
    return engine.extractor


def _name_of(model: Extractor | None) -> str:
    return EXTRACTOR if model is None else model.name


async def _pages(
    engine: Engine,
    caller: Caller,
    text: str | None,
    ids: Sequence[UUID | str] | UUID | str | None,
    scope: Mapping[str, Any],
    speaker: str | None,
    observed_at: Any,
) -> AsyncGenerator[list[Source]]:
    """What is to be read, in pages of at most 200 texts."""
    if text is not None:
        # What memories say already was read when they were written.
        said = blanked(check_text(text, "text", engine.settings.max_content_characters))
        who = None if speaker is None else check_text(speaker, "speaker", 200)
        yield [Source(said, who, check_moment(observed_at, "observed_at", caller.timezone))]
        return
    if speaker is not None or observed_at is not None:
        raise InvalidInput(
            "A memory knows its speaker and its date itself.", field="speaker", remedy="Give them with a text alone."
        )
    if ids is not None:
        memories = await _by_ids(engine, caller, ids)
        for start in range(0, len(memories), PAGE):
            yield [source_of(one) for one in memories[start : start + PAGE]]
        return
    last: UUID | None = None
    while memories := await browse(engine, caller, limit=PAGE, after=last, **scope):
        last = memories[-1].id
        yield [source_of(one) for one in memories if not _is_derived(one)]


async def _by_ids(engine: Engine, caller: Caller, ids: Sequence[UUID | str] | UUID | str) -> list[Memory]:
    """Memories by their ids, in that order; derived ones are left out.

    Raises:
        NotFound: the agent has none of that id that it may read.
    """
    several = [ids] if isinstance(ids, str) or not isinstance(ids, Sequence) else ids
    asked = list(dict.fromkeys(parse_id(one, "ids") for one in several))
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.all("memory.by_ids", tenant=caller.tenant, agent=caller.agent, ids=asked)
        readable = [one for one in map(memory_of, rows) if is_readable(caller, one.namespace)]
        memories = await seen(engine, transaction, caller, readable)
    found = {one.id: one for one in memories}
    gone = next((one for one in asked if one not in found), None)
    if gone is not None:
        raise missing(gone)
    note_read(engine, caller, "extract", tuple(asked))
    return [found[one] for one in asked if not _is_derived(found[one])]


def _is_derived(memory: Memory) -> bool:
    return "extractor" in memory.metadata or memory.kind in DERIVED_KINDS


def source_of(memory: Memory) -> Source:
    """A memory as a text to read; in an agent's answer nobody is "I"."""
    speaker = memory.speaker or ("" if ANSWER_TAG in memory.tags else None)
    return Source(memory.content, speaker, memory.observed_at, memory)


async def read_all(
    sources: Sequence[Source], model: Extractor | None, timezone: str, *, strict: bool = False
) -> list[Read]:
    """What is found in each source; of one that a model fails on the reason, unless that is to be `strict`."""
    dates = partial(read_dates, timezone=timezone)
    if model is None:
        # Those who speak call each other by their names.
        known: dict[str, EntityType] = {one.speaker: "PERSON" for one in sources if one.speaker}
        by_rules = partial(extract_by_rules, known=known, dates=dates)
        return [(one, by_rules(one.text, speaker=one.speaker, observed_at=one.observed_at), None) for one in sources]
    found: dict[int, Read] = {}

    async def read(place: int) -> None:
        one = sources[place]
        try:
            findings = await model.extract(one.text, speaker=one.speaker or None, observed_at=one.observed_at)
        except ModelError as error:
            if strict:
                raise
            found[place] = (one, Findings(), error.message)
        else:
            found[place] = (one, findings, None)

    await run_batches(range(len(sources)), read, REQUESTS_AT_ONCE)
    return [found[place] for place in range(len(sources))]


def read_dates(text: str, observed_at: datetime | None, *, timezone: str) -> list[Dated]:
    """The times that a text names; where nobody knows when it was said, those said in full."""
    window = asked_window(text, observed_at or SOMEWHEN, timezone)
    spans = () if window is None else window.spans
    known = [
        one for one in spans if observed_at is not None or not (one.days is None or one.guessed or one.days.relative)
    ]
    return [Dated(one.start, one.end, one.text) for one in known]


async def write_all(
    engine: Engine,
    caller: Caller,
    read: Sequence[Read],
    model: Extractor | None,
    namespace: str | None = None,
    session_revision: int | None = None,
) -> dict[int, list[Remembered | None]]:
    """Write what was found: what became of each fact of each source, None for one that the source says itself.

    Facts come first, what their sources mention after, each in one transaction for the sources of one place.

    Raises:
        Forbidden: the policy does not let the caller write where a source lies.
    """
    for source, findings, _ in read:
        if source.memory is not None and (findings.facts or findings.names):
            check_changeable(caller, source.memory.namespace, missing(source.memory.id))
    written: dict[int, list[Remembered | None]] = {}
    order = sorted(range(len(read)), key=lambda place: _place_key(read[place][0]))
    for _, places in groupby(order, key=lambda place: _place_key(read[place][0])):
        group = list(places)
        source = read[group[0]][0]
        writer = _writer(caller, source)
        fence = session_revision if writer.session is not None else None
        drafts: list[Draft] = []
        origins: list[Origin | None] = []
        for place in group:
            one, findings, _ = read[place]
            stated = [fact for fact in findings.facts if not _says_itself(one, fact)]
            drafts += [_draft(one, fact, _name_of(model), namespace) for fact in stated]
            origins += [_origin(one)] * len(stated)
        answers = iter(
            await remember_many(engine, writer, drafts, allow_pending=True, session_revision=fence, origins=origins)
            if drafts
            else ()
        )
        for place in group:
            one, findings, _ = read[place]
            written[place] = [None if _says_itself(one, fact) else next(answers) for fact in findings.facts]
        await _write_mentions(engine, writer, [read[place] for place in group], model, fence)
    return written


def _place_key(source: Source) -> tuple[str, ...]:
    memory = source.memory
    if memory is None:
        return ()
    return tuple(one or "" for one in (memory.user, memory.task, memory.chat, memory.session))


def _writer(caller: Caller, source: Source) -> Caller:
    """Who writes: the owner in the source's place; a policed caller as itself."""
    memory = source.memory
    if memory is None or caller.access is not None:
        return caller
    return replace(caller, user=memory.user, task=memory.task, chat=memory.chat, session=memory.session)


def _says_itself(source: Source, fact: FoundFact) -> bool:
    """Whether the source is a memory that says just the fact, so that no other is needed."""
    if source.memory is None:
        return False
    return fold(source.text).rstrip(SENTENCE_ENDS).casefold() == fact.content.rstrip(SENTENCE_ENDS).casefold()


def _origin(source: Source) -> Origin:
    return Origin({} if source.memory is None else {source.memory.id: source.memory.revision})


def _draft(source: Source, fact: FoundFact, extractor: str, namespace: str | None) -> Draft:
    """A fact as a memory to be written, where its source lies."""
    memory = source.memory
    relation = _related(fact)
    user = memory.user if memory is not None else None
    return Draft(
        content=fact.content,
        namespace=namespace if memory is None else memory.namespace,
        kind=fact.kind,
        labels=("preference" if fact.kind == "preference" else "factual",),
        importance=fact.importance,
        confidence=fact.confidence,
        subject=user if fact.subject is None else fact.subject.text,
        predicate=fact.predicate,
        observed_at=source.observed_at,
        valid_from=fact.valid_from,
        metadata={"extractor": extractor, "span": [fact.start, fact.end]},
        entities=() if relation is not None else _entities(name for name in (fact.subject, fact.object_name) if name),
        relation=relation,
    )


def _entities(names: Iterable[Name]) -> tuple[Named, ...]:
    """Names of known types as entities; what cannot be one is left out."""
    found = (_named(name) for name in names if name.type is not None)
    return tuple(one for one in found if one is not None)


def _named(name: Name) -> Named | None:
    try:
        return check_named({"name": " ".join(name.text.split()), "type": name.type}, "entities")
    except InvalidInput:
        return None


def _related(fact: FoundFact) -> Related | None:
    """What a fact says holds between two names of known types."""
    if fact.subject is None or fact.object_name is None or not fact.related:
        return None
    subject, other = _named(fact.subject), _named(fact.object_name)
    if subject is None or other is None:
        return None
    return check_related({"subject": subject, "predicate": fact.predicate, "object": other}, "relation")


async def _write_mentions(
    engine: Engine, caller: Caller, read: Sequence[Read], model: Extractor | None, session_revision: int | None
) -> None:
    """Write what the sources mention, and what one that states a fact itself says holds; and that they were read."""
    said: list[Said] = []
    entries: list[tuple[UUID | None, dict[str, Any]]] = []
    for source, findings, error in read:
        if source.memory is None or error is not None:
            continue
        own = next((fact for fact in findings.facts if _says_itself(source, fact)), None)
        entities = _entities(findings.names)
        relation = None if own is None else _related(own)
        if entities or relation is not None:
            said.append(Said(source.memory.id, entities, relation))
        if entities or findings.facts or findings.rejected:
            counts = {"facts": len(findings.facts), "rejected": len(findings.rejected)}
            detail = {"operation": "extract", "extractor": _name_of(model), **counts}
            entries.append((source.memory.id, detail))
    if not entries:
        return
    origins = [_origin(source) for source, _, _ in read if source.memory is not None]
    now = engine.clock.now()
    async with fenced(engine, caller, session_revision, origins) as transaction:
        if said:
            await write_graph(transaction, caller, said, now)
        await write_audit(transaction, caller, "update", entries, now)


def told(read: Read, written: Sequence[Remembered | None]) -> Extracted:
    """What was found in a source and became of it, as the caller is told."""
    source, findings, error = read
    outcomes = [*written, *[None] * (len(findings.facts) - len(written))]
    return Extracted(
        source=None if source.memory is None else source.memory.id,
        facts=tuple(
            _found(source, fact, one, bool(written)) for fact, one in zip(findings.facts, outcomes, strict=True)
        ),
        names=tuple(Mentioned(name=one.text, type=one.type, start=one.start, end=one.end) for one in findings.names),
        rejected=findings.rejected,
        error=error,
    )


def _found(source: Source, fact: FoundFact, written: Remembered | None, was_written: bool) -> Found:
    noted = was_written and written is None and source.memory is not None
    memory = written.memory if written is not None else None
    return Found(
        content=fact.content,
        start=fact.start,
        end=fact.end,
        evidence=source.text[fact.start : fact.end],
        subject=None if fact.subject is None else fact.subject.text,
        predicate=fact.predicate,
        object=fact.object,
        kind=fact.kind,
        confidence=fact.confidence,
        importance=fact.importance,
        valid_from=fact.valid_from,
        valid_until=fact.valid_until,
        outcome="noted" if noted else None if written is None else written.outcome,
        memory_id=source.memory.id if noted and source.memory is not None else None if memory is None else memory.id,
    )


async def extract_from(
    engine: Engine, caller: Caller, memories: Sequence[Memory], model: Extractor | None, session_revision: int | None
) -> None:
    """Find and write the facts of memories, all or none of what a model reads.

    Raises:
        ModelError: the model failed.
        StaleRevision: a memory was changed or forgotten meanwhile, or something of the session since its revision.
    """
    read = await read_all([source_of(one) for one in memories], model, caller.timezone, strict=True)
    await write_all(engine, caller, read, model, session_revision=session_revision)
