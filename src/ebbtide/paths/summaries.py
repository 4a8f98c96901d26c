"""Summaries of conversations: one for each branch, gone on with as the branch does, and gone when a turn of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from anyio import to_thread

from ebbtide.checks import check_flag
from ebbtide.errors import StaleRevision
from ebbtide.govern.access import READ, WRITE, requires
from ebbtide.govern.branches import branch_of, title_of
from ebbtide.models.summariser import LONGEST_SENT
from ebbtide.paths.episodes import MOST_TURNS, in_chat, of_chat, turns_of
from ebbtide.paths.manage import rewrite
from ebbtide.read.scope import make_scope
from ebbtide.remember import remember_many
from ebbtide.types.episodes import Episode, Turn
from ebbtide.types.memory import Draft
from ebbtide.write.origins import Origin
from ebbtide.write.rows import memory_of
from ebbtide.write.summary import Said, choose, sentences_of, topics_of

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller
    from ebbtide.types.memory import Memory

__all__ = ["summarise"]

TRIES = 3
WORDS_A_TOKEN = 0.75


@dataclass(frozen=True, slots=True)
class Told:
    """A branch as it is to be summarised: its turns, the summary to go on from, and what that tells of already.

    `own` says that the summary is the branch's own, and not that of one it goes back to.
    """

    branch: str
    turns: Sequence[Turn]
    summary: Memory | None
    sources: frozenset[UUID]
    own: bool

    @property
    def new(self) -> list[Turn]:
        """The turns that the summary does not tell of."""
        return [turn for turn in self.turns if turn.id not in self.sources]


@dataclass(frozen=True, slots=True)
class Text:
    """What a summary says, what it is about, and who made it."""

    content: str
    topics: tuple[str, ...]
    by: Literal["model", "extract"]


async def summarise(
    engine: Engine,
    caller: Caller,
    *,
    chat: str | None = None,
    branch: str | None = None,
    anew: bool = False,
    namespace: str | None = None,
) -> Episode:
    """Summarise a branch. See `AsyncEpisodes.summarise`.

    `namespace` is one in which something was said on the branch itself; that of the first such turn unless given.
    """
    check_flag(anew, "anew")
    caller = await in_chat(engine, caller, "summarise", READ, WRITE, chat=chat, branch=branch)
    return await _summarise(engine, caller, anew, namespace)


@requires(READ, WRITE)
async def _summarise(engine: Engine, caller: Caller, anew: bool, namespace: str | None) -> Episode:
    for attempt in range(TRIES):
        told = await _read(engine, caller, anew, namespace)
        if not told.turns:
            return Episode(outcome="nothing", memory=None)
        if told.summary is not None and not told.new:
            return _episode("unchanged", told, told.summary, told.summary.metadata.get("topics", ()), None)
        text = await _told(engine, told)
        try:
            return await _write(engine, caller, told, text)
        except StaleRevision:
            # A turn was changed or forgotten meanwhile, or another summary was faster: what is left is told anew.
            if attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")


async def _read(engine: Engine, caller: Caller, anew: bool, namespace: str | None) -> Told:
    """The branch as the caller may see it, in one snapshot.

    A summary tells of the turns of one namespace and stands there too: who reads it may read them all. One that an
    earlier form of a turn went into is no start.
    """
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        turns = await turns_of(engine, transaction, caller, limit=MOST_TURNS)
        branch = await branch_of(transaction, caller)
        place = namespace or await _place(transaction, caller, branch, turns)
        turns = [turn for turn in turns if turn.memory.namespace == place]
        found = None if place is None else await _read_summary(engine, transaction, caller, branch, place)
    summary, sources = found if found is not None else (None, frozenset[UUID]())
    own = summary is not None and summary.metadata.get("branch") == title_of(branch)
    told = Told(branch, turns, summary, sources, own)
    changed = summary is not None and any(
        turn.memory.revision > 1 and turn.memory.updated_at > summary.updated_at for turn in turns if turn.id in sources
    )
    if anew or changed or not sources <= {turn.id for turn in turns}:
        told = replace(told, sources=frozenset())
    return told


async def _place(transaction: Transaction, caller: Caller, branch: str, turns: Sequence[Turn]) -> str | None:
    """Where a summary tells the branch's name to nobody who may not know it: where something was said on it.

    As long as nothing was, it is where the branch was begun. None where there is nothing to tell.
    """
    own = next((turn.memory.namespace for turn in turns if turn.branch == branch), None)
    if own is not None or not turns:
        return own
    begun = await transaction.one("episodes.begun", **of_chat(caller), branch=branch)
    return turns[0].memory.namespace if begun is None else begun[0]


async def _read_summary(
    engine: Engine, transaction: Transaction, caller: Caller, branch: str, namespace: str
) -> tuple[Memory, frozenset[UUID]] | None:
    scope = make_scope(caller, engine.clock.now())
    row = await transaction.one(
        "episodes.summary",
        **scope.parameters(),
        chat=caller.chat,
        branch=branch,
        title=title_of(branch),
        namespace=namespace,
    )
    return None if row is None else (memory_of(row[1:]), frozenset(row[0]))


async def _told(engine: Engine, told: Told) -> Text:
    """The summary gone on with: by the chat model where one is set, else of the sentences that were said."""
    earlier = told.summary.content if told.summary is not None and told.sources else ""
    if engine.summariser is None:
        return await _extracted(engine, earlier, told.new)
    topics: tuple[str, ...] = ()
    for stretch in stretches(told.new):
        made = await engine.summariser.summarise(earlier, stretch, int(engine.settings.episode_tokens * WORDS_A_TOKEN))
        earlier, topics = made.summary.strip(), tuple(dict.fromkeys(topic.strip() for topic in made.topics[:5]))
    return Text(earlier, tuple(filter(None, topics)), "model")


def stretches(turns: Sequence[Turn]) -> list[str]:
    """The turns as lines, as many together as are sent at once; a turn that is longer is cut there."""
    found: list[str] = []
    for turn in turns:
        line = f"{turn.speaker or turn.role or 'someone'}: {turn.content}"[:LONGEST_SENT]
        if found and len(found[-1]) + len(line) < LONGEST_SENT:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


async def _extracted(engine: Engine, earlier: str, turns: Sequence[Turn]) -> Text:
    said = [sentence for turn in turns for sentence in sentences_of(Said(turn.content, turn.speaker))]
    sentences = list(dict.fromkeys([*earlier.splitlines(), *said])) or [turn.content for turn in turns]
    lengths = await engine.counter.count_each(sentences)
    chosen = await to_thread.run_sync(choose, sentences, lengths, engine.settings.episode_tokens)
    return Text("\n".join(chosen), await to_thread.run_sync(topics_of, sentences), "extract")


async def _write(engine: Engine, caller: Caller, told: Told, text: Text) -> Episode:
    """Keep the summary in the place of the branch's earlier one; every turn it tells of must still say what was read.

    Raises:
        StaleRevision: one does not, or the earlier summary was changed meanwhile.
    """
    last = told.turns[-1].memory
    metadata: dict[str, Any] = {"branch": title_of(told.branch), "topics": list(text.topics)}
    origin = Origin({turn.id: turn.memory.revision for turn in told.turns}, whole=True)
    if told.own and told.summary is not None:
        memory = await rewrite(
            engine, caller, told.summary.id, text.content, {"metadata": metadata},
            expected_revision=told.summary.revision, origin=origin, observed_at=last.observed_at,
        )  # fmt: skip
        return _episode("revised", told, memory, text.topics, text.by)
    draft = Draft(
        content=text.content, kind="episode", namespace=last.namespace, labels=("episodic",), metadata=metadata,
        observed_at=last.observed_at,
    )  # fmt: skip

    async def alone(transaction: Transaction, new: Sequence[Memory]) -> None:
        await _check_alone(engine, transaction, caller, told.branch, last.namespace, [memory.id for memory in new])

    (answer,) = await remember_many(engine, caller, [draft], origins=[origin], follow=alone)
    outcome: Any = answer.outcome if answer.outcome in ("dropped", "quarantined") else "stored"
    return _episode(outcome, told, answer.memory, text.topics, text.by)


async def _check_alone(
    engine: Engine, transaction: Transaction, caller: Caller, branch: str, namespace: str, ids: Sequence[UUID]
) -> None:
    """Make sure that nobody else begins a summary of the branch in a namespace, and that nobody has.

    Raises:
        StaleRevision: somebody has, since it was looked for.
    """
    of_branch = {"agent": caller.agent, "chat": caller.chat, "branch": branch}
    await transaction.run("episodes.lock_summary", tenant=caller.tenant, **of_branch)
    scope = make_scope(caller, engine.clock.now())
    if await transaction.one(
        "episodes.other_summary", **scope.parameters(), chat=caller.chat, title=title_of(branch), namespace=namespace,
        ids=list(ids),
    ):  # fmt: skip
        raise StaleRevision(
            "Another summary of the branch was faster.", field="branch", remedy="Summarise it again to go on with that."
        )


def _episode(
    outcome: Any, told: Told, memory: Memory | None, topics: Sequence[str], by: Literal["model", "extract"] | None
) -> Episode:
    return Episode(
        outcome=outcome, memory=memory, turns=len(told.turns), new_turns=len(told.new), topics=tuple(topics), by=by
    )
