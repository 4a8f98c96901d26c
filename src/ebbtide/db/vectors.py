"""Vectors as the driver sends them: two bytes a dimension, one by one or many at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import AsyncConnection

__all__ = ["Vectors", "as_halfvec", "as_halfvecs", "read_halfvecs", "register_vectors"]


class Vectors(list[Any]):
    """A list that travels as a binary array; the driver would write an ordinary one out as text, five times slower."""


def as_halfvec(vector: NDArray[np.float32] | None) -> Any:
    """One vector, None for none."""
    from pgvector import HalfVector

    return None if vector is None else HalfVector(vector)


def as_halfvecs(vectors: Iterable[NDArray[np.float32] | None]) -> Vectors:
    """Many vectors, None in place of one that is missing."""
    return Vectors([as_halfvec(vector) for vector in vectors])


async def register_vectors(connection: AsyncConnection[Any]) -> None:
    """Teach a connection the vector types."""
    from pgvector.psycopg import register_vector_async
    from psycopg.types.array import ListBinaryDumper

    await register_vector_async(connection)
    connection.adapters.register_dumper(Vectors, ListBinaryDumper)


def read_halfvecs(sent: bytes, count: int) -> NDArray[np.float32]:
    """So many vectors of one dimension as the rows of a matrix, from the form in which the server sends each.

    That is its dimension and an unused number, of two bytes each, and its values in half precision.
    """
    import numpy as np

    return np.frombuffer(sent, dtype=">f2").reshape(count, -1)[:, 2:].astype(np.float32)
