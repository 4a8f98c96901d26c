"""Policies as a tenant keeps them: set, deleted, and shown as they take effect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ebbtide.checks import check_caller
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.govern.access import ADMIN, requires
from ebbtide.govern.policies import EffectivePolicy, Policy, effective, stored_policies
from ebbtide.govern.profiles import resolve_profile
from ebbtide.identifiers import new_id
from ebbtide.rank.profile import RISKY_RELATIVE_CUTOFF

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["delete_policy", "effective_policy", "set_policy"]


@requires(ADMIN)
async def set_policy(
    engine: Engine, caller: Caller, agent: str, policy: Policy | Mapping[str, Any], task: str | None = None
) -> tuple[str, ...]:
    """Keep the policy of an agent, or of one of its tasks, in place of what it was; answers with warnings about it.

    Raises:
        InvalidInput: a name or a field is not acceptable; the error names it.
    """
    _check_names(caller, agent, task)
    kept = _as_policy(policy)
    if kept.profile is not None:
        await resolve_profile(engine, caller, kept.profile)
    now = engine.clock.now()
    async with engine.database.transaction(caller.tenant) as transaction:
        await transaction.run("govern.mark_changed", tenant=caller.tenant, revision=new_id(now), now=now)
        await transaction.run(
            "govern.set_policy",
            tenant=caller.tenant,
            agent=agent,
            task=task or "",
            fields=json.dumps(kept.model_dump(mode="json", exclude_none=True)),
            now=now,
        )
    cutoff = kept.relative_cutoff
    if cutoff is None or cutoff < RISKY_RELATIVE_CUTOFF:
        return ()
    return (
        f"A relative_cutoff of {cutoff:g} is risky: from {RISKY_RELATIVE_CUTOFF:g} upwards it drops many "
        "legitimate hits.",
    )


def _as_policy(policy: Policy | Mapping[str, Any]) -> Policy:
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, Mapping):
        raise InvalidInput(
            "A policy is an object.", field="policy", remedy="Give a mapping of its fields, or a Policy."
        )
    return Policy.model_validate(dict(policy))


def _check_names(caller: Caller, agent: str, task: str | None, **values: str | None) -> Caller:
    """The caller of another agent, whose names can all stand for one party."""
    return check_caller(replace(caller, agent=agent, task=task, **values))


@requires(ADMIN)
async def delete_policy(engine: Engine, caller: Caller, agent: str, task: str | None = None) -> None:
    """Delete the policy of an agent, or of one of its tasks; what has none may do nothing.

    Raises:
        NotFound: there is no such policy.
    """
    _check_names(caller, agent, task)
    now = engine.clock.now()
    async with engine.database.transaction(caller.tenant) as transaction:
        await transaction.run("govern.mark_changed", tenant=caller.tenant, revision=new_id(now), now=now)
        row = await transaction.one("govern.delete_policy", tenant=caller.tenant, agent=agent, task=task or "")
        if row is None:
            raise NotFound(
                f"The agent {agent!r} has no policy" + (f" for the task {task!r}." if task else "."),
                field="agent" if task is None else "task",
                remedy="Show the effective policy to see where its fields come from.",
            )


@requires(ADMIN)
async def effective_policy(
    engine: Engine,
    caller: Caller,
    agent: str,
    task: str | None = None,
    user: str | None = None,
    chat: str | None = None,
    session: str | None = None,
) -> EffectivePolicy:
    """What holds for an agent and a task: each field's value, where it comes from, and what its templates become.

    Raises:
        InvalidInput: a name could not be one segment of a namespace.
    """
    asked = _check_names(caller, agent, task, user=user, chat=chat, session=session)
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        stored = await stored_policies(transaction, caller.tenant, agent, task)
    return effective(agent, stored, asked)
