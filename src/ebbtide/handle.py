"""AsyncEbbtide: the public verbs, each a few lines over its path."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from ebbtide import recall as recalls
from ebbtide import remember as writes
from ebbtide.arguments import check_opened, plainly_refusing
from ebbtide.checks import check_caller
from ebbtide.clock import Clock
from ebbtide.errors import Forbidden, InvalidInput
from ebbtide.govern.access import access_with, by_tool
from ebbtide.groups.audit import AsyncAudit
from ebbtide.groups.conflicts import AsyncConflicts
from ebbtide.groups.curation import CurationVerbs
from ebbtide.groups.documents import AsyncDocuments, IngestVerbs
from ebbtide.groups.entities import AsyncEntities
from ebbtide.groups.episodes import AsyncEpisodes
from ebbtide.groups.extraction import ExtractVerbs
from ebbtide.groups.fading import AsyncFading
from ebbtide.groups.forgetting import ForgetVerbs
from ebbtide.groups.holds import AsyncHolds
from ebbtide.groups.jobs import AsyncJobs
from ebbtide.groups.lifecycle import LifecycleVerbs
from ebbtide.groups.policies import AsyncPolicies
from ebbtide.groups.profiles import AsyncProfiles
from ebbtide.groups.receipts import AsyncReceipts
from ebbtide.groups.relations import AsyncRelations
from ebbtide.groups.rules import AsyncRules
from ebbtide.models.protocols import Embedder, Reranker
from ebbtide.opening import Store
from ebbtide.paths import context as contexts
from ebbtide.paths import explain as explanations
from ebbtide.paths import manage, transfer
from ebbtide.rank.profile import Profile
from ebbtide.read.where import Filter
from ebbtide.settings import Settings
from ebbtide.types.base import Page
from ebbtide.types.caller import Caller
from ebbtide.types.context import ContextBlock, Style
from ebbtide.types.graph import Named, Related
from ebbtide.types.memory import Draft, Imported, Memory, Remembered, Version
from ebbtide.types.recall import Explanation, Recall, TagFilter

__all__ = ["AsyncEbbtide"]


@plainly_refusing
class AsyncEbbtide(LifecycleVerbs, ExtractVerbs, ForgetVerbs, IngestVerbs, CurationVerbs):
    """A store of memories, seen by one caller. Open it with `AsyncEbbtide.open`."""

    def __init__(
        self, store: Store | None = None, caller: Caller | None = None, *, owner: bool = True, **opening: Any
    ) -> None:
        self._store = check_opened(self, store, Store, opening)
        self._owner = owner
        self.caller = check_caller(Caller("default", "default") if caller is None else caller)
        self.profiles = AsyncProfiles(self)
        self.policies = AsyncPolicies(self)
        self.rules = AsyncRules(self)
        self.conflicts = AsyncConflicts(self)
        self.jobs = AsyncJobs(self)
        self.audit = AsyncAudit(self)
        self.receipts = AsyncReceipts(self)
        self.holds = AsyncHolds(self)
        self.forgetting = AsyncFading(self)
        self.entities = AsyncEntities(self)
        self.relations = AsyncRelations(self)
        self.documents = AsyncDocuments(self)
        self.episodes = AsyncEpisodes(self)

    @classmethod
    def open(
        cls,
        location: str | Path | None = None,
        *,
        tenant: str = "default",
        agent: str = "default",
        user: str | None = None,
        task: str | None = None,
        chat: str | None = None,
        session: str | None = None,
        timezone: str = "UTC",
        embedder: Embedder | str | None = "",
        reranker: Reranker | str | None = "",
        settings: Settings | None = None,
        clock: Clock | None = None,
        tokenizer: Callable[[str], int] | None = None,
    ) -> Self:
        """A handle on the store at `location`: a folder with a PostgreSQL of its own, or a `postgresql://` DSN.

        Use it as `async with AsyncEbbtide.open(…) as memory:`, or `await` it and call `close()`. Without a location the
        setting `store` holds. `embedder` is one, or what the setting of that name takes; None is full text alone.
        `reranker` likewise; None is none.
        `tokenizer` counts the tokens of a text for context blocks, and may be called from any thread; the embedder's
        does unless given.

        Raises:
            InvalidInput: a name or the time zone is not acceptable.
            StoreError: on entering: the store cannot be opened; the error says why and what to do.
        """
        caller = Caller(tenant, agent, user, task, chat, session, timezone)
        store = Store(
            location, settings=settings, embedder=embedder, reranker=reranker, clock=clock, tokenizer=tokenizer
        )
        return cls(store, caller)

    def scoped(self, **changes: Any) -> Self:
        """Another handle on the same engine, for another agent, user, task, chat, session, tenant or time zone.

        With a `branch` of its chat, it sees of the chat what that branch has, and goes on with it. A handle from
        `as_agent` is bound to its names; of it, only the branch and the time zone can be others.

        Raises:
            InvalidInput: a name is not acceptable.
            Forbidden: the handle is bound to that name.
        """
        return type(self)(self._store, rescoped(self.caller, changes), owner=False)

    def as_agent(
        self,
        agent: str,
        scopes: Sequence[str] | str,
        *,
        user: str | None = None,
        task: str | None = None,
        chat: str | None = None,
        session: str | None = None,
        tool: bool = False,
    ) -> Self:
        """A policed handle on the same engine: it does what its scopes and the agent's policy allow, and nothing else.

        Args:
            agent: whose policy and whose memories.
            scopes: some of memory:read, memory:write, memory:delete, memory:admin and operator.
            user, task, chat, session: on whose behalf and where; they fill in the policy's templates.
            tool: every verb is asked by a tool, as if each were called with `tool=True`.

        Raises:
            InvalidInput: a name or a scope is not acceptable.
            Forbidden: this handle is policed itself.
        """
        caller = replace(
            self.caller, agent=agent, user=user, task=task, chat=chat, session=session, access=access_with(scopes),
            branch=None,
        )  # fmt: skip
        if self.caller.access is not None:
            raise Forbidden("A policed handle makes no other.", remedy="Make it from the owner's handle.")
        return type(self)(self._store, by_tool(caller, tool), owner=False)

    @property
    def closed(self) -> bool:
        """Whether the store was left; a handle from `scoped` is closed with the one it came from."""
        return self._store.closed

    async def engine(self) -> Any:
        """The engine below, opening the store on first use."""
        return await self._store.open()

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        await self._store.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Write down what is pending and leave the store. A handle from `scoped` leaves it to the one it came from."""
        if self._owner:
            await self._store.close()

    async def remember(
        self,
        content: str,
        *,
        namespace: str | None = None,
        kind: str | None = None,
        labels: Sequence[str] | str = (),
        importance: float | None = None,
        confidence: float | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        observed_at: Any = None,
        valid_from: Any = None,
        expires_at: Any = None,
        ttl_seconds: float | None = None,
        supersedes: UUID | str | None = None,
        tags: Sequence[str] | str = (),
        metadata: Mapping[str, Any] | None = None,
        speaker: str | None = None,
        seq: int | None = None,
        vector: Any = None,
        idempotency_key: str | None = None,
        entities: Sequence[Named | Mapping[str, Any]] = (),
        relation: Related | Mapping[str, Any] | None = None,
        allow_pending: bool = False,
        session_revision: int | None = None,
        tool: bool = False,
    ) -> Remembered:
        """Remember one statement; answers with what became of it.

        Args:
            content: what to remember, at most 100,000 characters.
            namespace: a dotted path; else `vector.agent.<user>.memory` for a user, or `vector.global.memory`.
            kind: fact, preference, howto, correction, learning, note, message, episode, chunk, entity or relation; what
                the rule on the namespace says unless given, or fact.
            labels: category labels; factual, procedural, preference, behavioral and episodic have half-lives.
            importance: 0 to 1, 0.5 unless given; a successor inherits at least that of what it replaces.
            confidence: 0 to 1, 0.7 unless given.
            subject, predicate: what the statement is about, for finding contradictions.
            observed_at: when it was noticed; never guessed.
            valid_from: since when it is true; for a successor, since it was observed, or now, unless given.
            expires_at, ttl_seconds: when it ends, or in how many seconds; at most one of them.
            supersedes: the id of the memory this one replaces.
            tags, metadata: for filtering. Reserved metadata keys are dropped and named in `warnings`.
            speaker, seq: who says it and the place in the handle's chat, counted from 0.
            vector: the content's vector, where the caller has embedded already.
            idempotency_key: a retry with the same key gets the first answer again.
            entities, relation: whom and what it mentions, what it says holds; `Named` and `Related`, or their fields.
            allow_pending: store the text although the embedder fails; a job makes the vector later.
            session_revision: what `session_revision()` was when the work on this began.
            tool: a language model's tool asks for it, which a policed handle's policy may forbid.

        Raises:
            InvalidInput: a value is not acceptable; the error names the field.
            NotFound: the memory to supersede does not exist.
            IdempotencyMismatch: the key was used with another body.
            StaleRevision: something of the handle's session was forgotten since `session_revision`.
            ModelError: the embedder failed.
        """
        draft = Draft.model_construct(
            content=content, namespace=namespace, kind=kind, labels=labels, importance=importance,
            confidence=confidence, subject=subject, predicate=predicate, observed_at=observed_at, valid_from=valid_from,
            expires_at=expires_at, ttl_seconds=ttl_seconds, supersedes=supersedes, tags=tags, metadata=metadata,
            speaker=speaker, seq=seq, vector=vector, idempotency_key=idempotency_key, entities=entities,
            relation=relation,
        )  # fmt: skip
        written = await self.remember_many(
            [draft], allow_pending=allow_pending, session_revision=session_revision, tool=tool
        )
        return written[0]

    async def remember_many(
        self,
        drafts: Sequence[Draft | Mapping[str, Any] | str],
        *,
        allow_pending: bool = False,
        session_revision: int | None = None,
        tool: bool = False,
    ) -> list[Remembered]:
        """Remember many statements in one transaction: all of them, or none; answers in their order.

        A draft is a text, a mapping with the arguments of `remember`, or a `Draft`. Errors name the draft's place.
        `allow_pending` and `session_revision` are `remember`'s.
        """
        return await writes.remember_many(
            await self.engine(), by_tool(self.caller, tool), drafts, allow_pending=allow_pending,
            session_revision=session_revision,
        )  # fmt: skip

    async def recall(
        self,
        query: str,
        *,
        profile: str | Profile | Mapping[str, Any] | None = None,
        intent: str | None = None,
        namespaces: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        labels: Sequence[str] | str | None = None,
        tags: TagFilter | Mapping[str, Any] | Sequence[str] | str | None = None,
        where: Filter | Mapping[str, Any] | None = None,
        limit: int | None = None,
        min_score: float | None = None,
        min_similarity: float | None = None,
        as_of: Any = None,
        valid_at: Any = None,
        include_superseded: bool = False,
        timezone: str | None = None,
        vector: Any = None,
        rerank: bool | None = None,
        trace: bool = False,
        tool: bool = False,
    ) -> Recall:
        """The memories worth most for a query, best first.

        Args:
            query: what is asked, at most 10,000 characters; long ones are cut down to their question.
            profile: a preset (`tide`, `ontheia`, `agentium`, `ibex`, `eryx`), the name of a saved one, or a profile.
            intent: whose strategy ranks where no profile is given: decision, comparative, relationship, temporal,
                exploratory, factual, or auto for the one the query is found to have.
            namespaces: patterns; `vector.team.*` is everything below, without `*` exact. All the agent's unless given,
                save the own memory of other users where the handle has a user.
            kinds, labels: one of these.
            tags: all of a list; or an object of any, all, none and exact.
            where: a filter on fields and metadata, as an object, or as an expression made with `ebbtide.where`; see
                `ebbtide.read.filters.compile_filter`.
            limit: how many, from 1 to the profile's maximum.
            min_score, min_similarity: thresholds in place of the profile's.
            as_of: what the store knew at that moment.
            valid_at: what was true at that moment.
            include_superseded: also what was replaced meanwhile.
            timezone: whose days "yesterday" and "on 18 March" are, and plain dates; the handle's unless given.
            vector: the query's vector, where the caller has embedded already.
            rerank: whether a reranker orders the best candidates anew; as the profile says unless given.
            trace: also tell what happened to every candidate.
            tool: a language model's tool asks for it: a policed handle reads by its policy's `tool_read`, not `read`.

        Raises:
            InvalidInput: an argument is not acceptable; the error names it.
            ModelError: the query could not be embedded.
        """
        return await recalls.recall(
            await self.engine(), by_tool(self.caller, tool), query, profile=profile, intent=intent,
            namespaces=namespaces, kinds=kinds, labels=labels, tags=tags, where=where, limit=limit, min_score=min_score,
            min_similarity=min_similarity, as_of=as_of, valid_at=valid_at, include_superseded=include_superseded,
            timezone=timezone, vector=vector, rerank=rerank, trace=trace,
        )  # fmt: skip

    async def context(
        self,
        query: str,
        *,
        budget: int | None = None,
        style: Style = "text",
        selected: Sequence[UUID | str] = (),
        project: str | None = None,
        intent: str | None = None,
        **recall: Any,
    ) -> ContextBlock:
        """A block of the memories for a query, to stand at the end of the last user message.

        Hits of one sort, and nothing else, stand in the order of their relevance, under the instructions of their
        namespaces. Where there are facts and episodes, chunks or notes, or entities that they mention, or something of
        `project` or `selected`, the block has sections. Nothing a memory says can pass for one of its own lines.

        Args:
            query: what is asked.
            budget: the most tokens the whole block may have, shared among its parts. Without it they have 16,000
                together, and each its own most: memories 1,500 to 3,000 by the intent, the project 3,000, files 4,000,
                what was selected 1,500.
            style: `text`, `openai` or `anthropic`: the form of `block.message` and `block.messages(prompt)`.
            selected: ids of memories that are considered before all others.
            project: a namespace; what is found in and below it stands in a section of its own.
            intent: as `recall`'s; that of the query orders the sections, and says how much room memories have.
            recall: the other arguments of `recall`.

        Raises:
            InvalidInput: an argument is not acceptable; the error names it.
            NotFound: the agent has no memory of an id in `selected`, or it was forgotten.
            ModelError: the query could not be embedded, or its tokens not be counted.
        """
        return await contexts.context(
            await self.engine(), self.caller, query, budget=budget, style=style, selected=selected, project=project,
            intent=intent, **recall,
        )  # fmt: skip

    async def explain(self, query: str, memory_id: UUID | str, *, tool: bool = False, **recall: Any) -> Explanation:
        """Why one memory does, or does not, come back for a query; the other arguments are `recall`'s.

        Raises:
            NotFound: the agent has no such memory, or it was forgotten.
        """
        return await explanations.explain(await self.engine(), by_tool(self.caller, tool), query, memory_id, **recall)

    async def get(self, memory_id: UUID | str) -> Memory:
        """One memory by its id, superseded and expired ones too.

        Raises:
            NotFound: the agent has no such memory, or it was forgotten.
        """
        return await manage.get(await self.engine(), self.caller, memory_id)

    async def browse(
        self, *, limit: int = 50, after: UUID | str | None = None, tool: bool = False, **scope: Any
    ) -> Page[Memory]:
        """Memories of a scope without a query, newest first. `after` is the id of the last one seen, the page's `next`.

        `namespaces`, `kinds`, `labels`, `tags`, `where`, `as_of`, `valid_at` and `include_superseded` are `recall`'s.
        """
        return await manage.browse(await self.engine(), by_tool(self.caller, tool), limit=limit, after=after, **scope)

    async def history(self, memory_id: UUID | str) -> list[Version]:
        """Every image of a memory, oldest first.

        Raises:
            NotFound: the agent has no such memory, or it was forgotten.
        """
        return await manage.history(await self.engine(), self.caller, memory_id)

    async def revise(
        self,
        memory_id: UUID | str,
        content: str,
        *,
        expected_revision: int | None = None,
        session_revision: int | None = None,
        vector: Any = None,
        tool: bool = False,
        **changes: Any,
    ) -> Memory:
        """Give a memory new content, and importance, confidence, kind, labels, tags, metadata; history keeps the old.

        `entities` and `relation` take the place of all that it spoke of. Without them a new text goes on to mention
        those whose names it does not lose, and loses its relation, which the audit notes.

        Raises:
            NotFound: the agent has no such memory.
            StaleRevision: it is not at `expected_revision`, or the handle's session not at `session_revision`.
            Conflict: another live memory of the namespace says just that.
        """
        return await manage.revise(
            await self.engine(), by_tool(self.caller, tool), memory_id, content, expected_revision=expected_revision,
            session_revision=session_revision, vector=vector, **changes,
        )  # fmt: skip

    async def export_records(self, *, tool: bool = False, **scope: Any) -> AsyncGenerator[dict[str, Any]]:
        """Memories with everything the store has of them, as JSON values, in the order of their ids.

        Superseded, expired and archived ones too, with earlier versions, vectors and counts; forgotten ones never. All
        are of one moment. `namespaces`, `kinds`, `labels`, `tags` and `where` are `recall`'s.
        """
        async with aclosing(transfer.export_pages(await self.engine(), by_tool(self.caller, tool), **scope)) as pages:
            async for page in pages:
                for record in page:
                    yield record

    async def import_records(
        self,
        records: Iterable[transfer.Record] | AsyncIterable[transfer.Record],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> Imported:
        """Store what `export_records` gave, or lines of JSON that say the same; only `content` is needed.

        Ids are kept, and a record that is there already is left alone, so an import can be repeated. Vectors of another
        model than the store's are made anew. Records go in by the thousand, a transaction each; `progress` is told the
        number of the last line after each. Entities come as they stand: what was merged, split or named by hand before
        the export is not undone here change by change.

        Raises:
            InvalidInput: a line is not acceptable; the error names it and the field. Nothing of its thousand is stored.
            Conflict: an id is in use for another memory.
            Tombstoned: an id, or that of a successor, belongs to a memory that was forgotten.
            ModelError: the embedder failed.
        """
        return await transfer.import_records(await self.engine(), self.caller, records, progress=progress)


CHANGEABLE = ("tenant", "agent", "user", "task", "chat", "branch", "session", "timezone")
# What says nothing about whose memories may be seen.
UNBOUND = ("branch", "timezone")


def rescoped(caller: Caller, changes: Mapping[str, Any]) -> Caller:
    """The caller with some of its names changed."""
    unknown = next((name for name in changes if name not in CHANGEABLE), None)
    if unknown is not None:
        raise InvalidInput(f"A scope has no {unknown}.", field=unknown, remedy=f"It has {', '.join(CHANGEABLE)}.")
    bound = next((name for name in changes if name not in UNBOUND), None)
    if caller.access is not None and bound is not None:
        raise Forbidden(f"The handle is bound to its {bound}.", field=bound, remedy="Make another with as_agent.")
    # A branch belongs to one chat.
    return replace(caller, **({"branch": None} if "chat" in changes else {}) | dict(changes))
