"""What every group of verbs knows: the handle it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ebbtide.arguments import plainly_refusing

if TYPE_CHECKING:
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = ["Group", "Handle"]


class Handle(Protocol):
    """The part of a handle that its groups use."""

    caller: Caller

    async def engine(self) -> Engine:
        """The engine below, opening the store on first use."""
        ...


class Group:
    """A group of verbs on one handle."""

    def __init_subclass__(cls) -> None:
        plainly_refusing(cls)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @property
    def caller(self) -> Caller:
        """Who asks."""
        return self._handle.caller

    async def engine(self) -> Engine:
        """The engine below, opening the store on first use."""
        return await self._handle.engine()
