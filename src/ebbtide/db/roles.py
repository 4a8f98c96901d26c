"""The two roles of a store: the one that transactions take, and the one that full text is searched as."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from psycopg import errors as sqlstate
from psycopg import sql

from ebbtide.db.statements import statement
from ebbtide.errors import StoreUnsuitable

if TYPE_CHECKING:
    from psycopg import AsyncConnection

__all__ = ["can_set_up_roles", "check_isolation", "grant", "set_up_roles"]


async def _means(connection: AsyncConnection[Any]) -> Any:
    return await (await connection.execute(statement("migrate.means"))).fetchone()


async def can_set_up_roles(connection: AsyncConnection[Any], facts: Any) -> bool:
    """Whether the store lacks one of its roles, as after a restore on another server, and this user can set it up."""
    if facts.has_role and facts.words_indexed:
        return False
    means = await _means(connection)
    return (means.app and not facts.has_role) or (means.reader and not facts.words_indexed)


async def set_up_roles(connection: AsyncConnection[Any], facts: Any) -> None:
    """Give the store the roles that it lacks, as far as this user may, in the transaction of the caller.

    Without the first, transactions run as the owner, whom the policies bind as well. Without the second, full text
    answers the same and reads a whole scope.
    """
    means = await _means(connection)
    if means.app and not facts.has_role:
        await _create(connection, "ebbtide_app")
        await connection.execute(statement("migrate.join_role"), {})
        await grant(connection)
    if means.reader and not (facts.has_role and facts.words_indexed):
        # The schema may be another's, the server may forbid more than PostgreSQL does, or another database may be
        # at the same; the check-up tells of it, and the next opening tries again.
        with suppress(sqlstate.InsufficientPrivilege, sqlstate.UniqueViolation):
            async with connection.transaction():
                await _create(connection, "ebbtide_reader")
                await connection.execute(statement("migrate.let_reader_search"), {})


async def _create(connection: AsyncConnection[Any], role: str) -> None:
    await connection.execute(sql.SQL("SET LOCAL ebbtide.role = {}").format(sql.Literal(role)))
    await connection.execute(statement("migrate.create_role"), {})


async def grant(connection: AsyncConnection[Any]) -> None:
    """Let the role of transactions touch what it may: what is there by now."""
    await connection.execute(statement("migrate.grant_role"), {})


def check_isolation(facts: Any) -> None:
    """Refuse to run as a user whom no policy binds.

    Raises:
        StoreUnsuitable: it bypasses row-level security, and cannot take the role that does not.
    """
    if facts.bypasses and not facts.has_role:
        raise StoreUnsuitable(
            "This user bypasses row-level security and may not create the role that does not.",
            remedy="As a superuser: CREATE ROLE ebbtide_app NOLOGIN; GRANT ebbtide_app TO this user.",
        )
