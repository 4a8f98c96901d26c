"""Who may do what: the one place where scopes and policies are checked, before a verb does anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ebbtide.checks import check_caller, check_flag, check_texts
from ebbtide.errors import Forbidden, InvalidInput, NotFound
from ebbtide.govern.audit import warn
from ebbtide.govern.namespaces import check_namespace, default_namespace, granted_scope
from ebbtide.govern.policies import DEFAULTS, grant_of, stored_policies
from ebbtide.rank.profile import narrow
from ebbtide.text import shown
from ebbtide.types.caller import Access

if TYPE_CHECKING:
    from uuid import UUID

    from ebbtide.engine import Engine
    from ebbtide.rank.profile import Profile
    from ebbtide.types.caller import Caller, Grant

__all__ = [
    "ADMIN",
    "DELETE",
    "OPERATOR",
    "READ",
    "SCOPES",
    "WRITE",
    "PolicyChanged",
    "access_with",
    "authorise",
    "by_tool",
    "check_changeable",
    "check_revision",
    "check_visible",
    "is_readable",
    "narrow_within",
    "of_itself",
    "profile_within",
    "rebound",
    "requires",
    "write_namespace",
]

READ, WRITE, DELETE, ADMIN, OPERATOR = "memory:read", "memory:write", "memory:delete", "memory:admin", "operator"
SCOPES = (READ, WRITE, DELETE, ADMIN, OPERATOR)
# The scopes that touch memories, and so need a policy that says which.
POLICED = frozenset({READ, WRITE, DELETE})

Call = ParamSpec("Call")
Answer = TypeVar("Answer")
Verb = Callable[Concatenate["Engine", "Caller", Call], Awaitable[Answer]]


class PolicyChanged(Exception):
    """The policies that a search was planned with are out of date; it is planned anew."""


def access_with(scopes: Sequence[str] | str) -> Access:
    """The access of a caller with these scopes.

    Raises:
        InvalidInput: there is no such scope.
    """
    listed = check_texts(scopes, "scopes")
    unknown = next((scope for scope in listed if scope not in SCOPES), None)
    if unknown is not None:
        raise InvalidInput(
            f"There is no scope {shown(unknown, 40)}.", field="scopes", remedy=f"Use {', '.join(SCOPES)}."
        )
    return Access(frozenset(listed))


def by_tool(caller: Caller, tool: Any) -> Caller:
    """The caller, asking by a tool if it does not already; for the owner that makes no difference.

    Raises:
        InvalidInput: `tool` is neither true nor false.
    """
    if not check_flag(tool, "tool") or caller.access is None:
        return caller
    return replace(caller, access=replace(caller.access, tool=True))


def of_itself(caller: Caller) -> Caller:
    """The caller where no tool asks: what enters the context by itself is read by `read`, whoever wants the block."""
    return caller if caller.access is None else replace(caller, access=replace(caller.access, tool=False))


def requires(
    *scopes: str, search: bool = False
) -> Callable[[Verb[Call, Answer]], Callable[Concatenate[Engine, Caller, Call], Awaitable[Answer]]]:
    """Let a verb run only for a caller with these scopes, with what its policy grants; a refusal is written down.

    A verb called by another one runs under what that one was granted. A `search` may start from policies as they were
    last seen: it finds out in its own transaction whether they still hold, and is run again where they do not.

    Raises:
        Forbidden: a scope is missing, there is no policy, or it does not allow what the verb does.
    """

    def decorate(verb: Verb[Call, Answer]) -> Callable[Concatenate[Engine, Caller, Call], Awaitable[Answer]]:
        name = verb.__name__.lstrip("_")

        @wraps(verb)
        async def policed(engine: Engine, caller: Caller, *args: Call.args, **kwargs: Call.kwargs) -> Answer:
            if caller.access is None or caller.access.grant is not None:
                return await verb(engine, caller, *args, **kwargs)
            remembered = search
            while True:
                granted = await authorise(engine, caller, *scopes, verb=name, remembered=remembered)
                try:
                    return await verb(engine, granted, *args, **kwargs)
                except PolicyChanged:
                    remembered = False
                except Forbidden as error:
                    await _note(engine, caller, name, error)
                    raise

        return policed

    return decorate


async def authorise(engine: Engine, caller: Caller, *scopes: str, verb: str, remembered: bool = False) -> Caller:
    """The caller with what its policy grants, if it has the scopes; a refusal is written down as a warning.

    `remembered` takes the policies as they were last seen, where they were.

    Raises:
        Forbidden: a scope is missing, or the agent has no policy.
    """
    if caller.access is None:
        return caller
    try:
        missing = next((scope for scope in scopes if scope not in caller.access.scopes), None)
        if missing is not None:
            raise Forbidden(f"That needs the scope {missing}.", remedy="Use a handle or a key that has it.")
        if POLICED.isdisjoint(scopes):
            return caller
        return replace(caller, access=replace(caller.access, grant=await _grant(engine, caller, remembered)))
    except Forbidden as error:
        await _note(engine, caller, verb, error)
        raise


async def rebound(engine: Engine, caller: Caller, *, verb: str, **names: str | None) -> Caller:
    """The caller with names it did not have; a policed one that has another already is bound to that.

    Raises:
        InvalidInput: a name is not acceptable.
        Forbidden: the caller is bound to another.
    """
    changes = {
        name: value
        for name, value in names.items()
        if value is not None and not (isinstance(value, str) and value == getattr(caller, name))
    }
    bound = next((name for name in changes if getattr(caller, name) is not None), None)
    if caller.access is not None and bound is not None:
        error = Forbidden(f"The handle is bound to its {bound}.", field=bound, remedy="Make another with as_agent.")
        await _note(engine, caller, verb, error)
        raise error
    return check_caller(replace(caller, **changes))


async def _grant(engine: Engine, caller: Caller, remembered: bool) -> Grant:
    key = ("grant", caller.agent, caller.task, caller.user, caller.chat, caller.session)
    known: Grant | None = engine.governance.latest(caller.tenant, key) if remembered else None
    if known is not None:
        return known
    async with engine.database.transaction(caller.tenant, snapshot=True) as transaction:
        stored = await stored_policies(transaction, caller.tenant, caller.agent, caller.task)
    if not stored.exists:
        raise Forbidden(
            f"The agent {caller.agent!r} has no policy.",
            field="agent",
            remedy="Set a policy for it; the default one is its user's own memory.",
        )
    grant = grant_of(stored, caller)
    engine.governance.put(caller.tenant, stored.revision, key, grant)
    return grant


async def _note(engine: Engine, caller: Caller, verb: str, error: Forbidden) -> None:
    await warn(engine, caller, None, {"verb": verb, "refused": error.message})


def check_revision(caller: Caller, revision: UUID | None) -> None:
    """Whether the policies that a caller was granted by are those of the snapshot with this revision.

    Raises:
        PolicyChanged: they are not.
    """
    if caller.access is not None and caller.access.grant is not None and caller.access.grant.revision != revision:
        raise PolicyChanged


def profile_within(
    caller: Caller, profile: str | Profile | Mapping[str, Any] | None, intent: str | None = None
) -> tuple[str | Profile | Mapping[str, Any] | None, tuple[str, ...]]:
    """The profile of a caller's recall, and what it should know of that: its policy's takes the place of its own.

    So it does of the strategy of the `intent` that the caller asks for.
    """
    grant = caller.access.grant if caller.access is not None else None
    if grant is None or grant.profile is None:
        return profile, ()
    other = (intent if profile is None else profile) not in (None, grant.profile)
    return grant.profile, (f"the policy ranks by the profile {grant.profile!r}",) if other else ()


def narrow_within(
    caller: Caller, profile: Profile, *, limit: int | None, min_score: float | None, min_similarity: float | None
) -> Profile:
    """The profile with what a recall asks for, as far as the caller's policy lets it.

    A limit can only be lower than the policy's `top_k`, and a minimum only higher than its `min_score`.

    Raises:
        InvalidInput: the limit or a threshold is out of its range.
    """
    grant = caller.access.grant if caller.access is not None else None
    if grant is None:
        return narrow(profile, limit=limit, min_score=min_score, min_similarity=min_similarity)
    asked = narrow(profile, limit=limit, min_score=min_score, min_similarity=min_similarity)
    top_k = DEFAULTS["top_k"] if grant.top_k is None else grant.top_k
    unlimited = limit is not None and grant.top_k is None
    floor = None if grant.min_score is None else max(grant.min_score, 0.0 if min_score is None else min_score)
    return narrow(
        asked,
        limit=asked.limit if unlimited else min(profile.max_limit if limit is None else asked.limit, top_k),
        min_score=floor,
        relative_cutoff=grant.relative_cutoff,
    )


def write_namespace(namespace: str | None, caller: Caller, field: str) -> str:
    """Where a caller writes: the namespace it names, or else its policy's, or the owner's default.

    Raises:
        InvalidInput: it is not a dotted path, or the policy's has a placeholder for which the caller has no value.
        Forbidden: the policy does not let the caller write there.
    """
    if namespace is not None:
        check_namespace(namespace, field)
    if caller.access is None:
        return default_namespace(caller) if namespace is None else namespace
    _check_may_write(caller)
    grant = caller.access.grant
    if namespace is None:
        if grant is None or (grant.write is None and grant.lacking is None):
            raise Forbidden(
                "The policy names no namespace to write to.", field=field, remedy="Name one that it allows."
            )
        if grant.write is None:
            name = str(grant.lacking).removesuffix("_id")
            raise InvalidInput(
                f"The policy's namespace to write to needs a {name}, and none was given.",
                field=name,
                remedy=f"Give the handle a {name}, or name a namespace that the policy allows.",
            )
        return grant.write
    if not _writable(caller, namespace):
        raise Forbidden(
            f"The policy does not let this agent write to {namespace[:80]!r}.",
            field=field,
            remedy="Leave the namespace out, or name one that the policy allows.",
        )
    return namespace


def _check_may_write(caller: Caller) -> None:
    access = caller.access
    if access is None:
        return
    allowed = access.grant is not None and (access.grant.allow_tool_write if access.tool else access.grant.allow_write)
    if not allowed:
        raise Forbidden(
            f"The policy does not let {'a tool of this agent' if access.tool else 'this agent'} write.",
            remedy=f"Set {'allow_tool_write' if access.tool else 'allow_write'} in the policy.",
        )


def is_readable(caller: Caller, namespace: str) -> bool:
    """Whether a caller may read what lies in a namespace, by either list.

    An id that one way of reading gave must mean something to the verbs that take ids.
    """
    access = caller.access
    return access is None or any(granted_scope(access, tool=tool).covers(namespace) for tool in (False, True))


def _writable(caller: Caller, namespace: str) -> bool:
    grant = caller.access.grant if caller.access is not None else None
    return grant is not None and (namespace == grant.write or namespace in grant.allowed_write)


def check_visible(caller: Caller, namespace: str, missing: NotFound) -> None:
    """Whether the caller may read what lies in a namespace; for one that may not, it does not exist.

    Raises:
        NotFound: the error given as `missing`.
    """
    if not is_readable(caller, namespace):
        raise missing


def check_changeable(caller: Caller, namespace: str, missing: NotFound, *, deletes: bool = False) -> None:
    """Whether the caller may change, or delete, what lies in a namespace.

    Raises:
        NotFound: the error given as `missing`: it may neither write nor read there.
        Forbidden: it may only read there, or its tools may not do that.
    """
    access = caller.access
    if access is None:
        return
    if not _writable(caller, namespace):
        check_visible(caller, namespace, missing)
        raise Forbidden(
            "The policy lets this agent read that memory, but not change it.",
            field="memory_id",
            remedy="Have its namespace added to allowed_write.",
        )
    if not deletes:
        _check_may_write(caller)
    elif access.tool and not (access.grant is not None and access.grant.allow_tool_delete):
        raise Forbidden(
            "The policy does not let a tool of this agent forget.", remedy="Set allow_tool_delete in the policy."
        )
