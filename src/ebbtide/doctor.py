"""A check-up: whether this program, its model and its store are fit, each finding with its remedy."""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ebbtide.db.migrate import SCHEMA_VERSION
from ebbtide.errors import EbbtideError, NotFound
from ebbtide.jobs.manage import list_jobs
from ebbtide.models.rerank import ask
from ebbtide.read.route import has_index

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.models.protocols import Embedder, Reranker
    from ebbtide.opening import Store
    from ebbtide.types.caller import Caller
    from ebbtide.types.jobs import Job

__all__ = ["Check", "examine"]

LOADING_SECONDS = 60.0

Verdict = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding: what was looked at, the verdict, what was found, and what to do about it."""

    name: str
    verdict: Verdict
    found: str
    remedy: str | None = None


async def examine(store: Store, caller: Caller, *, named: bool = True) -> list[Check]:
    """Look at everything a recall relies on, in the order in which it is relied on.

    Nothing is raised for what is amiss: it is a check that failed. That no store is there yet is sound unless it was
    `named`. What lies behind a failed opening is not looked at.
    """
    checks = [
        Check("python", "ok", platform.python_version()),
        await check_embedder(store.embedder),
        await check_reranker(store.reranker, store.settings.reranker_timeout_seconds),
    ]
    started = time.perf_counter()
    try:
        engine = await store.open()
    except NotFound as error:
        found = Check("store", "fail", error.message, error.remedy)
        return [*checks, found if named else Check("store", "ok", f"none yet at {store.location}")]
    except EbbtideError as error:
        return [*checks, Check("store", "fail", error.message, error.remedy)]
    try:
        took = f"opened in {(time.perf_counter() - started) * 1000:.0f} ms"
        place = f"{'embedded' if store.embedded else 'server'}, {took}"
        return [*checks, Check("store", "ok", place), *await check_store(engine, caller)]
    finally:
        await store.close()


async def check_embedder(embedder: Embedder | None) -> Check:
    """Whether the model loads, is the file it should be, and embeds; and how fast."""
    if embedder is None:
        return Check("embedder", "warn", "none: recall is by full text alone", "Set EBBTIDE_EMBEDDER to local.")
    try:
        await embedder.embed(["The first text loads the model."])
        started = time.perf_counter()
        await embedder.embed(["The second text shows how fast it is."])
        took = (time.perf_counter() - started) * 1000
        identity = embedder.identity
    except EbbtideError as error:
        return Check("embedder", "fail", error.message, error.remedy)
    return Check("embedder", "ok", f"{identity.name}, {identity.dimension} dimensions, {took:.1f} ms a text")


async def check_reranker(reranker: Reranker | None, timeout_seconds: float) -> Check:
    """Whether the reranker, where there is one, answers in time; its first answer may take long."""
    if reranker is None:
        return Check("reranker", "ok", "none: candidates keep the order of their relevance")
    try:
        await ask(reranker, "What loads the model?", ["The first question."], timeout_seconds=LOADING_SECONDS)
        started = time.perf_counter()
        documents = ["The second question shows how fast it is.", "It rained."]
        await ask(reranker, "How fast is it?", documents, timeout_seconds=timeout_seconds)
        took = (time.perf_counter() - started) * 1000
    except EbbtideError as error:
        return Check("reranker", "fail", error.message, error.remedy or "Correct EBBTIDE_RERANKER, or unset it.")
    return Check("reranker", "ok", f"{reranker.name}, {took:.1f} ms for two memories")


async def check_store(engine: Engine, caller: Caller) -> list[Check]:
    """The server, the schema, the model, isolation, the index of words, the tenant's rows and their vectors."""
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        server = (await transaction.named("doctor.server"))[0]
        facts = (await transaction.named("migrate.store"))[0]
        memories = (await transaction.named("doctor.memories", tenant=caller.tenant))[0]
        indexed = await has_index(transaction, caller.tenant)
    failed = await list_jobs(engine, caller, status="failed", everything=True)
    return [
        Check("postgresql", "ok", server.server_version),
        Check("pgvector", "ok", server.vector_version),
        Check("schema", "ok", f"version {facts.schema_version} of {SCHEMA_VERSION}"),
        check_model(facts),
        check_isolation(server),
        check_words(facts, server),
        Check("memories", "ok", f"{memories.kept:,} of tenant {caller.tenant}, {memories.live:,} of them live"),
        check_pending(memories.pending),
        check_index(memories.live, engine.settings.exact_search_rows, indexed=indexed),
        check_jobs(failed),
    ]


def check_model(facts: Any) -> Check:
    """Which model the store's vectors come from."""
    if facts.model_name is None:
        return Check("model", "warn", "none recorded: no vector can be stored", "Open the store with an embedder once.")
    return Check("model", "ok", f"{facts.model_name}, {facts.model_dimension} dimensions")


def check_isolation(server: Any) -> Check:
    """Whether row-level security keeps tenants apart for the role that the program runs as."""
    if server.bypasses or not server.forced:
        why = "bypasses row-level security" if server.bypasses else "is not bound by it on every table"
        return Check("isolation", "fail", f"the role {server.role} {why}", "Run `ebbtide migrate` as a superuser.")
    return Check("isolation", "ok", f"row-level security is forced, the role is {server.role}")


def check_words(facts: Any, server: Any) -> Check:
    """Whether full text may use its index under row-level security."""
    stemming = facts.text_search_configuration
    if facts.words_indexed:
        return Check("full text", "ok", f"{stemming}, its index is used under row-level security")
    remedy = "As a superuser of the server: run `ebbtide migrate` on this store, once."
    if not server.has_reader:
        remedy += f" Or: ALTER ROLE {quoted(server.owner)} CREATEROLE, and run it as that user."
    found = f"{stemming}, its index is not used under row-level security: scopes too large for exact search are slow"
    return Check("full text", "warn", found, remedy)


def quoted(name: str) -> str:
    """A role's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def check_pending(pending: int) -> Check:
    """Whether memories wait for their vectors."""
    if pending:
        return Check("vectors", "warn", f"{pending:,} memories wait for theirs", "Let `ebbtide worker` make them.")
    return Check("vectors", "ok", "no memory waits for one")


def check_index(live: int, exact_search_rows: int, *, indexed: bool) -> Check:
    """Whether a tenant that has outgrown exact search has a vector index."""
    if indexed:
        return Check("vector index", "ok", "built")
    if live <= exact_search_rows:
        return Check("vector index", "ok", f"not needed: searches are exact up to {exact_search_rows:,} memories")
    return Check("vector index", "warn", "outgrown and not built: recall is slow", "Let `ebbtide worker` build it.")


def check_jobs(failed: list[Job]) -> Check:
    """Whether background work has been given up."""
    if failed:
        tasks = ", ".join(sorted({job.task for job in failed}))
        return Check("jobs", "warn", f"{len(failed)} failed: {tasks}", "See `ebbtide jobs list --status failed`.")
    return Check("jobs", "ok", "none failed")
