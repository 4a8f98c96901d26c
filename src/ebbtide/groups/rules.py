"""handle.rules: what is laid down for namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ebbtide.govern.rules import add_rule, list_rules, remove_rule, set_personal_data
from ebbtide.groups.base import Group
from ebbtide.paths.preview import preview
from ebbtide.types.rules import Rule, RulePreview

__all__ = ["AsyncRules"]


class AsyncRules(Group):
    """Rules on namespaces: bonuses, instructions, and what holds for memories written there."""

    async def add(
        self,
        pattern: str,
        bonus: float = 0.0,
        instruction: str | None = None,
        default_kind: str | None = None,
        personal_data: str | None = None,
        retention_days: int | None = None,
    ) -> Rule:
        """Keep a rule for the namespaces that `pattern` covers, and for all below them.

        Args:
            pattern: `${…}` is exactly one segment, `*` any remainder, everything else itself.
            bonus: a share of the relevance, from -1 to 10; those of all matching rules add up.
            instruction: what heads the memories in a context block, or holds them at `{{content}}`.
            default_kind: the kind of a memory that is written there without one.
            personal_data: allow, redact, drop or quarantine: for e-mail addresses, phone numbers and the like.
            retention_days: for how many days a memory written there is kept, at most 36,525.

        Raises:
            InvalidInput: an argument is not acceptable; the error names it.
        """
        rule = Rule.model_construct(
            pattern=pattern, bonus=bonus, instruction=instruction, default_kind=default_kind,
            personal_data=personal_data, retention_days=retention_days,
        )  # fmt: skip
        return await add_rule(await self.engine(), self.caller, rule)

    async def list(self) -> list[Rule]:
        """The tenant's rules, in the order in which they were added."""
        return await list_rules(await self.engine(), self.caller)

    async def set_personal_data(self, mode: str | None) -> None:
        """Lay down what is done with personal data where no rule says it.

        `mode` is allow, redact, drop or quarantine; None keeps the text and marks what it holds.

        Raises:
            InvalidInput: there is no such mode.
        """
        await set_personal_data(await self.engine(), self.caller, mode)

    async def remove(self, rule_id: UUID | str) -> None:
        """Remove a rule.

        Raises:
            NotFound: the tenant has no such rule.
        """
        await remove_rule(await self.engine(), self.caller, rule_id)

    async def preview(self, rule: Rule | Mapping[str, Any], query: str, **recall: Any) -> RulePreview:
        """What a rule would change for a query: rank, relevance and instruction of each hit, before and after.

        Nothing is saved. A rule with the id of a saved one stands in its place; the other arguments are `recall`'s.

        Raises:
            InvalidInput: the rule or an argument is not acceptable; the error names it.
            ModelError: the query could not be embedded.
        """
        return await preview(await self.engine(), self.caller, rule, query, **recall)
