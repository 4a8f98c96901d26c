"""Profiles a tenant keeps beside the presets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ebbtide.checks import check_text
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.govern.access import ADMIN, READ, requires
from ebbtide.rank.presets import DEFAULT_PROFILE, PRESETS
from ebbtide.rank.profile import Profile, parse_profile, review
from ebbtide.rank.strategies import STRATEGIES
from ebbtide.text import shown

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["get_profile", "list_profiles", "resolve_profile", "save_profile"]

LONGEST_NAME = 64


async def resolve_profile(engine: Engine, caller: Caller, profile: str | Profile | Mapping[str, Any] | None) -> Profile:
    """The profile of a recall: given as such, by the name of a preset or of one the tenant saved, or the default.

    Raises:
        InvalidInput: there is no profile of that name.
        InvalidProfile: a profile given as data cannot be computed.
    """
    if isinstance(profile, Profile):
        return profile
    if isinstance(profile, Mapping):
        return parse_profile(profile)
    name = DEFAULT_PROFILE if profile is None else profile
    try:
        return await _find(engine, caller, name)
    except NotFound as error:
        raise InvalidInput(
            error.message,
            field="profile",
            remedy=f"Use {', '.join((*PRESETS, *STRATEGIES))}, or save one.",
        ) from error


@requires(ADMIN)
async def save_profile(engine: Engine, caller: Caller, profile: Profile | Mapping[str, Any]) -> tuple[str, ...]:
    """Keep a profile under its name, and answer with warnings about it.

    One that has a strategy's name takes its place for this tenant: it answers the queries of that intent from then on.

    Raises:
        InvalidProfile: it cannot be computed.
        InvalidInput: its name is a preset's.
    """
    warnings = tuple(review(profile))
    kept = profile if isinstance(profile, Profile) else parse_profile(profile)
    if check_text(kept.name, "name", LONGEST_NAME) in PRESETS:
        raise InvalidInput(f"{kept.name} is a preset.", field="name", remedy="Give the profile a name of its own.")
    async with engine.database.transaction(caller.tenant) as transaction:
        body = json.dumps(kept.model_dump(mode="json"))
        await transaction.run(
            "govern.save_profile", tenant=caller.tenant, name=kept.name, body=body, now=engine.clock.now()
        )
    return warnings


@requires(READ)
async def get_profile(engine: Engine, caller: Caller, name: str) -> Profile:
    """A preset, a strategy or a saved profile by its name; a saved one goes before the strategy of the same name.

    Raises:
        NotFound: the tenant has none of that name.
    """
    return await _find(engine, caller, name)


async def _find(engine: Engine, caller: Caller, name: str) -> Profile:
    if check_text(name, "profile", LONGEST_NAME) in PRESETS:
        return PRESETS[name]
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        row = await transaction.one("govern.profile", tenant=caller.tenant, name=name)
    if row is not None:
        return parse_profile(row[0])
    if name not in STRATEGIES:
        raise NotFound(
            f"There is no profile {shown(name, 64)}.",
            field="profile",
            remedy=f"Use {', '.join((*PRESETS, *STRATEGIES))}, or one of your own that the list has.",
        )
    return STRATEGIES[name]


@requires(READ)
async def list_profiles(engine: Engine, caller: Caller) -> list[Profile]:
    """The presets, then the strategies, each in the tenant's own form where it saved one, then its others by name."""
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        rows = await transaction.all("govern.profiles", tenant=caller.tenant)
    own = {profile.name: profile for profile in (parse_profile(row[0]) for row in rows)}
    return list({**PRESETS, **STRATEGIES, **own}.values())
