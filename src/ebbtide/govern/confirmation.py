"""The tokens of dry runs: each confirms one deed of one caller, on just what the dry run showed."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ebbtide.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

    from ebbtide.types.caller import Caller

__all__ = ["Deed", "check_token", "end_of_token", "make_token", "otherwise"]

TOKEN_LIFE = timedelta(minutes=15)
LONGEST_MOMENT = len("99999999999")


@dataclass(frozen=True, slots=True)
class Deed:
    """What a token lets be done, as errors say it: its name, what a dry run shows, and what is refused otherwise."""

    name: str
    shows: str
    refused: str


def end_of_token(now: datetime) -> datetime:
    """The moment until which a token of now confirms what it is for."""
    return (now + TOKEN_LIFE).replace(microsecond=0)


def make_token(deed: Deed, caller: Caller, meant: Any, ends: datetime) -> str:
    """What confirms until a moment that the caller means a deed, done to just what is `meant`, as JSON can say it.

    It is the caller's alone: whoever differs in any name, in its scopes or by asking through a tool needs its own. It
    keeps from haste, not from malice: whoever may do the deed could make one.
    """
    seconds = int(ends.timestamp())
    text = json.dumps([seconds, deed.name, _identity(caller), meant], sort_keys=True, default=str)
    return f"{seconds}-{hashlib.sha256(text.encode(errors='replace')).hexdigest()}"


def check_token(token: Any, deed: Deed, caller: Caller, meant: Any, now: datetime) -> None:
    """Accept the token of a dry run by which this caller saw what there is now.

    Raises:
        InvalidInput: it is no token.
        Conflict: it has expired, is for something else or another caller, or something changed since.
    """
    seconds = token.partition("-")[0] if isinstance(token, str) else ""
    if not (seconds.isascii() and seconds.isdigit()) or len(seconds) > LONGEST_MOMENT:
        raise InvalidInput(
            f"{deed.name} needs the token of a dry run.",
            field="token",
            remedy=f"Look first by a dry run at {deed.shows}, and repeat with its token.",
        )
    ends = now + timedelta(seconds=int(seconds) - now.timestamp())
    if ends <= now:
        raise Conflict("The token has expired.", field="token", remedy="Look again by a dry run.")
    if not hmac.compare_digest(make_token(deed, caller, meant, ends).encode(), token.encode(errors="replace")):
        raise otherwise(deed)


def otherwise(deed: Deed) -> Conflict:
    """The error that says that a token is for something else than there is now."""
    return Conflict(
        f"The token is not of a dry run in which you saw {deed.shows} as it is now.",
        field="token",
        remedy=f"Look again by a dry run; {deed.refused}.",
    )


def _identity(caller: Caller) -> str:
    """Everything that tells callers apart; what a policy grants shows in what is meant."""
    access = caller.access
    alone = replace(caller, access=None)
    return repr((alone, None if access is None else (sorted(access.scopes), access.tool)))
