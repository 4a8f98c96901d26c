"""What a policy and two hundred rules on namespaces add to a recall, as a share of what it costs without them."""

from __future__ import annotations

import asyncio
from statistics import median
from typing import Any

from benchmarks import _stores as stores
from benchmarks._measure import Figure, Processor, cost_of, show
from benchmarks._synthetic import World
from ebbtide import AsyncEbbtide, Policy

RULES = 200
ROUNDS, CALLS, WARM_UP = 20, 30, 30
QUESTION_SEED = 13


async def told(handle: AsyncEbbtide, tenant: str) -> AsyncEbbtide:
    """The owner's handle on a tenant that holds the same memories as the other, each chat in a namespace of its own."""
    other = handle.scoped(tenant=tenant)
    if await other.browse(limit=1):
        return other
    for number, turns in enumerate(World().chats(stores.SMALL)):
        drafts = [
            {
                "content": turn.text,
                "kind": "message",
                "speaker": turn.speaker,
                "seq": turn.sequence,
                "vector": turn.vector,
                "namespace": f"vector.agent.ana.chat{number}",
            }
            for turn in turns
        ]
        await other.scoped(chat=f"chat-{number}").remember_many(drafts)
    return other


async def policed(owner: AsyncEbbtide) -> AsyncEbbtide:
    """A policed handle with a policy and the rules."""
    for number in range(len(await owner.rules.list()), RULES):
        await owner.rules.add(f"vector.agent.${{user_id}}.chat{number}", 0.1, instruction=f"Heed {number}.")
    await owner.policies.set("default", Policy(read=("vector.agent.${user_id}.*", "vector.global.*"), top_k=10))
    return owner.as_agent("default", ["memory:read"], user="ana")


async def main() -> None:
    """Measure both handles in turns, so that what else the machine does weighs on both alike, and print."""
    questions = World().questions(WARM_UP + CALLS, seed=QUESTION_SEED)
    async with stores.synthetic(stores.SMALL) as handle:
        owner = await told(handle, "ungoverned")
        agent = await policed(await told(handle, "governed"))
        asked: tuple[tuple[AsyncEbbtide, dict[str, Any]], ...] = (
            (owner, {"namespaces": ("vector.agent.ana.*", "vector.global.*"), "limit": 10}),
            (agent, {}),
        )
        for text, vector in questions[:WARM_UP]:
            for one, arguments in asked:
                await one.recall(text, vector=vector, **arguments)
        processor = await Processor.of(handle)
        costs: tuple[list[float], list[float]] = ([], [])
        for text, vector in questions[WARM_UP:] * ROUNDS:
            for (one, arguments), spent in zip(asked, costs, strict=True):
                cost = await cost_of(
                    [lambda o=one, a=arguments, t=text, v=vector: o.recall(t, vector=v, **a)], processor
                )
                spent.append(cost.both)
    without, with_them = median(costs[0]), median(costs[1])
    show(
        f"A policy and {RULES} rules",
        [
            Figure("recall by the owner, without rules: CPU", without, "ms"),
            Figure("the same by a policed agent, with the rules: CPU", with_them, "ms"),
            Figure("    added", max(0.0, with_them / without - 1) * 100, "%", 5.0),
        ],
    )


if __name__ == "__main__":
    asyncio.run(main())
