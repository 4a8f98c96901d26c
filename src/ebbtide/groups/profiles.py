"""handle.profiles: the rankings a tenant can use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.govern.profiles import get_profile, list_profiles, save_profile
from ebbtide.groups.base import Group
from ebbtide.rank.profile import Profile

__all__ = ["AsyncProfiles"]


class AsyncProfiles(Group):
    """The rankings a tenant can use: the presets, the strategies of the intents, and those it saved."""

    async def save(self, profile: Profile | Mapping[str, Any]) -> tuple[str, ...]:
        """Keep a profile under its name; answers with warnings about it.

        One with the name of an intent (`decision`, …) takes the place of that intent's strategy for this tenant.

        Raises:
            InvalidProfile: it cannot be computed as written; the error names the field.
            InvalidInput: its name is a preset's.
        """
        return await save_profile(await self.engine(), self.caller, profile)

    async def list(self) -> list[Profile]:
        """The presets, then the strategies as they are for this tenant, then its own by name."""
        return await list_profiles(await self.engine(), self.caller)

    async def get(self, name: str) -> Profile:
        """The profile of that name.

        Raises:
            NotFound: there is none.
        """
        return await get_profile(await self.engine(), self.caller, name)
