"""handle.profiles: the rankings a tenant can use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.govern.profiles import get_profile, list_profiles, save_profile
from ebbtide.groups.base import Group
from ebbtide.paths.tune import Progress, keep_tuned, tune
from ebbtide.rank.profile import Profile
from ebbtide.rank.tuned import Tuned

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

    async def tune(
        self,
        profile: str | Profile | Mapping[str, Any],
        *,
        save: str | None = None,
        dry_run: bool = False,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Tuned:
        """Fit a profile's weights to the tenant's feedback on recalls, and save them as a profile of its own.

        It learns from recalls under any profile that reads the same and differs in weights and gates alone, and in
        each from the hits that were rated positive and negative by `feedback(…, recall=…)`. Weights are fitted to one
        part of the recalls and judged on the part held out, five times over; gates and limits stay. For a labelled data
        set see `ebbtide.evaluate.tune.tune_on`.

        Args:
            profile: where it starts: a name, or a profile.
            save: the name to save it under, which may be taken by one of the tenant's own; unless given, the first that
                is free of `ibex-tuned`, `ibex-tuned-2`, … .
            dry_run: save nothing, and answer also where it is no better.
            seed: what the recalls are shared out by; the same seed gives the same answer.
            progress: told what is being done, how much of it is done, and how much there is.

        Raises:
            NotTuned: the gain on what was held out is no more than noise, and `tuned` of the error says how large it
                is; or there are fewer than 30 recalls to learn from.
            InvalidInput: there is no such profile, it has nothing to tune, or an argument is not acceptable.
        """
        return await tune(
            await self.engine(), self.caller, profile, save=save, dry_run=dry_run, seed=seed, progress=progress
        )

    async def keep(self, tuned: Tuned, save: str | None = None) -> Tuned:
        """Save what tuning gave, under a name of its own or the first that is free; answers with it, as it was saved.

        Raises:
            NotTuned: it is no better than the profile it started from.
            InvalidInput: the name is a preset's.
        """
        return await keep_tuned(await self.engine(), self.caller, tuned, save)
