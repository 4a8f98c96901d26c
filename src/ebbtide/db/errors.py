"""The one place where the driver's errors become Ebbtide's."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
from psycopg import errors as sqlstate
from psycopg_pool import PoolTimeout

from ebbtide.errors import Conflict, EbbtideError, InvalidInput, StoreError, StoreUnavailable, StoreUnsuitable

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["translated"]

# What a server answers to a connection that it understands and does not want.
REFUSAL = re.compile(r"FATAL:|no password supplied")


@contextmanager
def translated(address: str | None = None) -> Generator[None]:
    """Turn what the driver raises inside the block into an EbbtideError; `address` says where it tried to connect."""
    try:
        yield
    except psycopg.Error as error:
        # Of other errors the driver's own text may hold values of a statement, such as those of a row that was refused.
        told = isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, sqlstate.InsufficientPrivilege))
        raise translate(error, address) from (error if told else None)


def translate(error: psycopg.Error, address: str | None = None) -> EbbtideError:
    """The EbbtideError that says what a driver error means to the caller.

    Nothing of the statement or of its values enters the message: they may hold what another reader must not see.
    """
    if isinstance(error, PoolTimeout):
        return StoreUnavailable(
            "No database connection became free in time.",
            remedy="Raise pool_connections, or send fewer requests at once.",
        )
    if isinstance(error, sqlstate.QueryCanceled):
        return StoreUnavailable(
            "The database took too long to answer.", remedy="Narrow the request, or raise statement_timeout_seconds."
        )
    if isinstance(error, sqlstate.InsufficientPrivilege):
        return StoreUnsuitable(
            "The database refuses this to Ebbtide's role.", remedy="Run `ebbtide migrate` as the owner of the schema."
        )
    if isinstance(error, (sqlstate.UndefinedTable, sqlstate.UndefinedColumn, sqlstate.InvalidSchemaName)):
        return StoreUnsuitable("The database does not hold Ebbtide's schema.", remedy="Run `ebbtide migrate`.")
    if isinstance(error, (sqlstate.DeadlockDetected, sqlstate.SerializationFailure, sqlstate.UniqueViolation)):
        return Conflict("Another writer changed the same memories at the same moment.", remedy="Try again.")
    if isinstance(error, (sqlstate.DiskFull, sqlstate.OutOfMemory, sqlstate.TooManyConnections)):
        return StoreUnavailable(
            "The database server is out of resources.", remedy="Free disk space, memory or connections on it."
        )
    if isinstance(error, sqlstate.ProgramLimitExceeded):
        return InvalidInput(
            "A value is larger than the database can index.", remedy="Shorten the names or the content."
        )
    if isinstance(error, psycopg.DataError):
        return InvalidInput("The database cannot hold a value as given.", remedy="Shorten or correct the values given.")
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        place = f" at {address}" if address is not None else ""
        if REFUSAL.search(str(error)) is not None:
            return StoreUnavailable(
                f"The database{place} refuses the connection.",
                field="location",
                remedy="Check the user, the password and the name of the database in the location.",
            )
        return StoreUnavailable(
            f"The database{place} does not answer.",
            field="location",
            remedy="Check that it runs and that the location is right.",
        )
    return StoreError(
        f"The database reported an error ({error.sqlstate or 'no code'}).", remedy="See the server's log for its text."
    )
