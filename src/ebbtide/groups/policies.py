"""handle.policies: what each agent, and each of its tasks, may read and write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.govern.policies import EffectivePolicy, Policy
from ebbtide.govern.policy_store import delete_policy, effective_policy, set_policy
from ebbtide.groups.base import Group

__all__ = ["AsyncPolicies"]


class AsyncPolicies(Group):
    """Policies: they hold for the handles that `as_agent` makes. Without one, such a handle may do nothing."""

    async def set(self, agent: str, policy: Policy | Mapping[str, Any], task: str | None = None) -> tuple[str, ...]:
        """Keep the policy of an agent, or where a task of it differs, in place of what it was; answers with warnings.

        Raises:
            InvalidInput: a name or a field is not acceptable; the error names it.
        """
        return await set_policy(await self.engine(), self.caller, agent, policy, task)

    async def effective(
        self,
        agent: str,
        task: str | None = None,
        user: str | None = None,
        chat: str | None = None,
        session: str | None = None,
    ) -> EffectivePolicy:
        """What holds for an agent and a task: each field's value, where it comes from, and its templates filled in.

        Raises:
            InvalidInput: a name could not be one segment of a namespace.
        """
        return await effective_policy(await self.engine(), self.caller, agent, task, user, chat, session)

    async def delete(self, agent: str, task: str | None = None) -> None:
        """Delete the policy of an agent, or of one of its tasks.

        Raises:
            NotFound: there is none.
        """
        await delete_policy(await self.engine(), self.caller, agent, task)
