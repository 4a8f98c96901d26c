"""Ebbtide: the same verbs for code without an event loop, one line a verb."""

from __future__ import annotations

import atexit
import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FunctionType, TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast, overload

from ebbtide.arguments import begun, check_opened, shaped
from ebbtide.clock import Clock
from ebbtide.errors import InvalidInput
from ebbtide.govern.access import by_tool
from ebbtide.govern.audit import export_pages as audit_pages
from ebbtide.groups.audit import AsyncAudit
from ebbtide.groups.conflicts import AsyncConflicts
from ebbtide.groups.documents import AsyncDocuments
from ebbtide.groups.entities import AsyncEntities
from ebbtide.groups.episodes import AsyncEpisodes
from ebbtide.groups.fading import AsyncFading
from ebbtide.groups.holds import AsyncHolds
from ebbtide.groups.jobs import AsyncJobs
from ebbtide.groups.policies import AsyncPolicies
from ebbtide.groups.profiles import AsyncProfiles
from ebbtide.groups.receipts import AsyncReceipts
from ebbtide.groups.relations import AsyncRelations
from ebbtide.groups.rules import AsyncRules
from ebbtide.handle import AsyncEbbtide
from ebbtide.models.protocols import Embedder, Reranker
from ebbtide.paths.transfer import export_pages
from ebbtide.portal import LoopThread
from ebbtide.settings import Settings
from ebbtide.types.caller import Caller

__all__ = [
    "Audit", "Conflicts", "Documents", "Ebbtide", "Entities", "Episodes", "Fading", "Holds", "Jobs", "Policies",
    "Profiles", "Receipts", "Relations", "Rules",
]  # fmt: skip

log = logging.getLogger("ebbtide")

Call = ParamSpec("Call")
Answer = TypeVar("Answer")
Inner = TypeVar("Inner")
InnerIn = TypeVar("InnerIn", contravariant=True)
AnswerOut = TypeVar("AnswerOut", covariant=True)
InnerObject = TypeVar("InnerObject", covariant=True)


class Blocking(Protocol[InnerObject]):
    """What a blocking verb needs of the object it belongs to."""

    @property
    def inner(self) -> InnerObject:
        """The asynchronous object of the same verbs."""
        ...

    def wait_for(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """Run a call on the event loop's thread and wait for its answer."""
        ...


class Verb(Protocol[InnerIn, Call, AnswerOut]):
    """A blocking verb: a method of every object whose asynchronous one has it."""

    @overload
    def __get__(self, owner: None, kind: type[Any] | None = None) -> Callable[Concatenate[Any, Call], AnswerOut]: ...
    @overload
    def __get__(self, owner: Blocking[InnerIn], kind: type[Any] | None = None) -> Callable[Call, AnswerOut]: ...


def blocking(method: Callable[Concatenate[Inner, Call], Awaitable[Answer]]) -> Verb[Inner, Call, Answer]:
    """A plain function that waits for a coroutine method, with its signature, annotations and docstring."""
    start = partial(begun, inspect.unwrap(method))

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.wait_for(lambda: start(self, self.inner, *args, **kwargs))

    # Annotations are read among the names of the method's module, so nothing above may use a name of this one. The
    # method itself stays out of sight: whoever unwraps functions to see which are coroutines would take this for one.
    verb = FunctionType(call.__code__, inspect.unwrap(method).__globals__, method.__name__, None, call.__closure__)
    verb.__module__, verb.__qualname__ = __name__, method.__qualname__.removeprefix("Async")
    return cast("Any", shaped(verb, method))


class BlockingGroup(Generic[Inner]):
    """A group of verbs on a blocking handle."""

    def __init__(self, handle: Ebbtide, inner: Inner) -> None:
        self.wait_for = handle.wait_for
        self.inner = inner


def pages_of(run: Callable[[Any], Any], pages: AsyncGenerator[list[dict[str, Any]]]) -> Generator[dict[str, Any]]:
    """The records of pages, which are closed even where the caller stops reading."""
    try:
        while page := run(lambda: anext(pages, list[dict[str, Any]]())):
            yield from page
    finally:
        # Left behind, they would hold their snapshot; a closed handle holds none.
        with suppress(InvalidInput):
            run(pages.aclose)


class Profiles(BlockingGroup[AsyncProfiles]):
    """The rankings a tenant can use: the presets, and those it saved."""

    save = blocking(AsyncProfiles.save)
    list = blocking(AsyncProfiles.list)
    get = blocking(AsyncProfiles.get)
    tune = blocking(AsyncProfiles.tune)
    keep = blocking(AsyncProfiles.keep)


class Policies(BlockingGroup[AsyncPolicies]):
    """Policies: they hold for the handles that `as_agent` makes. Without one, such a handle may do nothing."""

    set = blocking(AsyncPolicies.set)
    effective = blocking(AsyncPolicies.effective)
    delete = blocking(AsyncPolicies.delete)


class Rules(BlockingGroup[AsyncRules]):
    """Rules on namespaces: bonuses, instructions, and what holds for memories written there."""

    add = blocking(AsyncRules.add)
    list = blocking(AsyncRules.list)
    remove = blocking(AsyncRules.remove)
    set_personal_data = blocking(AsyncRules.set_personal_data)
    preview = blocking(AsyncRules.preview)


class Conflicts(BlockingGroup[AsyncConflicts]):
    """Conflicts between memories, found as they were written. Both sides stay readable until one is settled."""

    list = blocking(AsyncConflicts.list)
    resolve = blocking(AsyncConflicts.resolve)


class Jobs(BlockingGroup[AsyncJobs]):
    """Background work: embeddings, indexes, upkeep. `everything` is the whole store's, not the tenant's alone."""

    list = blocking(AsyncJobs.list)
    retry = blocking(AsyncJobs.retry)
    cancel = blocking(AsyncJobs.cancel)


class Receipts(BlockingGroup[AsyncReceipts]):
    """The tenant's receipts, one for each memory that was forgotten and one for each erasure."""

    list = blocking(AsyncReceipts.list)
    verify = blocking(AsyncReceipts.verify)


class Holds(BlockingGroup[AsyncHolds]):
    """Legal holds: what they cover cannot be forgotten, erased or outlived until they are released."""

    place = blocking(AsyncHolds.place)
    list = blocking(AsyncHolds.list)
    release = blocking(AsyncHolds.release)


class Episodes(BlockingGroup[AsyncEpisodes]):
    """Conversations as trees of turns."""

    add = blocking(AsyncEpisodes.add)
    fork = blocking(AsyncEpisodes.fork)
    branches = blocking(AsyncEpisodes.branches)
    chats = blocking(AsyncEpisodes.chats)
    transcript = blocking(AsyncEpisodes.transcript)
    summarise = blocking(AsyncEpisodes.summarise)


class Fading(BlockingGroup[AsyncFading]):
    """Forgetting by itself: curves, what a nightly run would change, and whether memories of the tenant may fade."""

    enable = blocking(AsyncFading.enable)
    disable = blocking(AsyncFading.disable)
    show = blocking(AsyncFading.show)
    plan = blocking(AsyncFading.plan)
    run = blocking(AsyncFading.run)


class Entities(BlockingGroup[AsyncEntities]):
    """Entities that memories mention, as far as their reader may read those."""

    list = blocking(AsyncEntities.list)
    get = blocking(AsyncEntities.get)
    neighbourhood = blocking(AsyncEntities.neighbourhood)
    page = blocking(AsyncEntities.page)
    refresh_pages = blocking(AsyncEntities.refresh_pages)
    merge = blocking(AsyncEntities.merge)
    split = blocking(AsyncEntities.split)
    add_alias = blocking(AsyncEntities.add_alias)
    remove_alias = blocking(AsyncEntities.remove_alias)
    undo = blocking(AsyncEntities.undo)
    changes = blocking(AsyncEntities.changes)


class Relations(BlockingGroup[AsyncRelations]):
    """What memories say holds between entities, while those memories do."""

    list = blocking(AsyncRelations.list)
    path = blocking(AsyncRelations.path)


class Documents(BlockingGroup[AsyncDocuments]):
    """Documents: the files and texts that were ingested. Of an earlier version nothing is kept."""

    list = blocking(AsyncDocuments.list)
    get = blocking(AsyncDocuments.get)
    forget = blocking(AsyncDocuments.forget)


class Audit(BlockingGroup[AsyncAudit]):
    """The tenant's audit: metadata of every read, write, change, deletion and refusal, never what a memory says."""

    entries = blocking(AsyncAudit.entries)
    verify = blocking(AsyncAudit.verify)
    seal = blocking(AsyncAudit.seal)

    def export(self) -> Generator[dict[str, Any]]:
        """The whole audit as JSON values; see `AsyncAudit.export`."""
        yield from pages_of(self.wait_for, audit_pages(self.wait_for(self.inner.flushed), self.inner.caller))


class Ebbtide:
    """A store of memories, seen by one caller. Open it with `Ebbtide.open`."""

    remember = blocking(AsyncEbbtide.remember)
    remember_many = blocking(AsyncEbbtide.remember_many)
    recall = blocking(AsyncEbbtide.recall)
    context = blocking(AsyncEbbtide.context)
    explain = blocking(AsyncEbbtide.explain)
    get = blocking(AsyncEbbtide.get)
    browse = blocking(AsyncEbbtide.browse)
    history = blocking(AsyncEbbtide.history)
    provenance = blocking(AsyncEbbtide.provenance)
    revise = blocking(AsyncEbbtide.revise)
    forget = blocking(AsyncEbbtide.forget)
    forget_where = blocking(AsyncEbbtide.forget_where)
    erase_user = blocking(AsyncEbbtide.erase_user)
    erase_tenant = blocking(AsyncEbbtide.erase_tenant)
    verify_receipt = blocking(AsyncEbbtide.verify_receipt)
    supersede = blocking(AsyncEbbtide.supersede)
    invalidate = blocking(AsyncEbbtide.invalidate)
    restore = blocking(AsyncEbbtide.restore)
    separate = blocking(AsyncEbbtide.separate)
    consolidate = blocking(AsyncEbbtide.consolidate)
    reconcile = blocking(AsyncEbbtide.reconcile)
    export_markdown = blocking(AsyncEbbtide.export_markdown)
    confirm = blocking(AsyncEbbtide.confirm)
    update_importance = blocking(AsyncEbbtide.update_importance)
    feedback = blocking(AsyncEbbtide.feedback)
    engaged = blocking(AsyncEbbtide.engaged)
    record_run = blocking(AsyncEbbtide.record_run)
    extract = blocking(AsyncEbbtide.extract)
    session_revision = blocking(AsyncEbbtide.session_revision)
    import_records = blocking(AsyncEbbtide.import_records)
    ingest = blocking(AsyncEbbtide.ingest)

    def __init__(
        self, inner: AsyncEbbtide | None = None, loop: LoopThread | None = None, *, owner: bool = False, **opening: Any
    ) -> None:
        inner = check_opened(self, inner, AsyncEbbtide, opening)
        self.inner = inner
        self._loop = loop
        self._owner = owner
        self.profiles = Profiles(self, inner.profiles)
        self.policies = Policies(self, inner.policies)
        self.rules = Rules(self, inner.rules)
        self.conflicts = Conflicts(self, inner.conflicts)
        self.jobs = Jobs(self, inner.jobs)
        self.audit = Audit(self, inner.audit)
        self.receipts = Receipts(self, inner.receipts)
        self.holds = Holds(self, inner.holds)
        self.forgetting = Fading(self, inner.forgetting)
        self.entities = Entities(self, inner.entities)
        self.relations = Relations(self, inner.relations)
        self.documents = Documents(self, inner.documents)
        self.episodes = Episodes(self, inner.episodes)

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
        """Open the store at `location`: a folder with a PostgreSQL of its own, or a `postgresql://` DSN.

        Use it as `with Ebbtide.open(…) as memory:`, or call `close()`. Without a location the setting `store` holds.
        `embedder` is an embedder, or what the setting of that name takes; None is full text alone. `reranker` likewise;
        None is none.
        `tokenizer` counts the tokens of a text for context blocks, and may be called from any thread; the embedder's
        does unless given.

        Raises:
            InvalidInput: a name or the time zone is not acceptable.
            StoreError: the store cannot be opened; the error says why and what to do.
        """
        inner = AsyncEbbtide.open(
            location, tenant=tenant, agent=agent, user=user, task=task, chat=chat, session=session, timezone=timezone,
            embedder=embedder, reranker=reranker, settings=settings, clock=clock, tokenizer=tokenizer,
        )  # fmt: skip
        loop = LoopThread()
        try:
            loop.call(inner.__aenter__)
        except BaseException:
            loop.end()
            raise
        handle = cls(inner, loop, owner=True)
        # A program that ends without closing still writes down what is pending.
        atexit.register(handle._close_at_exit)
        return handle

    @property
    def caller(self) -> Caller:
        """Who asks through this handle."""
        return self.inner.caller

    def wait_for(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """Run a call on the event loop's thread and wait for its answer.

        Raises:
            InvalidInput: the handle is closed, or this process was forked from the one that opened it.
        """
        if self._loop is None or self.inner.closed:
            raise InvalidInput("The handle is closed.", field="location", remedy="Open the store again.")
        if self._loop.forked:
            raise InvalidInput(
                "The handle was opened before this process was forked from another.",
                field="location",
                remedy="Open the store anew in each process.",
            )
        return self._loop.call(call)

    def export_records(self, *, tool: bool = False, **scope: Any) -> Generator[dict[str, Any]]:
        """Memories with everything the store has of them, as JSON values; see `AsyncEbbtide.export_records`."""
        engine = self.wait_for(self.inner.engine)
        yield from pages_of(self.wait_for, export_pages(engine, by_tool(self.caller, tool), **scope))

    def scoped(self, **changes: Any) -> Self:
        """Another handle on the same engine, for another agent, user, task, chat, session, tenant or time zone.

        Raises:
            InvalidInput: a name is not acceptable.
        """
        return type(self)(self.inner.scoped(**changes), self._loop)

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
        """A policed handle on the same engine, with what its scopes and the agent's policy allow, and nothing else.

        Raises:
            InvalidInput: a name or a scope is not acceptable.
            Forbidden: this handle is policed itself.
        """
        inner = self.inner.as_agent(agent, scopes, user=user, task=task, chat=chat, session=session, tool=tool)
        return type(self)(inner, self._loop)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write down what is pending and leave the store; a second call does nothing."""
        loop, self._loop = self._loop, None
        if loop is None or not self._owner:
            return
        atexit.unregister(self._close_at_exit)
        if loop.forked:
            return
        try:
            loop.call(self.inner.close)
        finally:
            loop.end()

    def _close_at_exit(self) -> None:
        try:
            self.close()
        except Exception as error:  # noqa: BLE001 - the program is over, and has nobody to tell
            log.warning("the store was not closed as it should be: %s", error)
