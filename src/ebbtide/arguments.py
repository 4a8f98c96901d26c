"""Arguments that a verb does not have: what the error says, whichever class the verb was called on."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar, cast

from ebbtide.errors import InvalidInput

__all__ = ["begun", "check_opened", "meant", "misuse", "plainly_refusing", "shaped"]

ENDS = ("expires_at", "invalidated_at")
# What others call the same.
SAME = {"filter": ("where",), **dict.fromkeys(("valid_until", "valid_to", "until", "ends_at"), ENDS)}

Class = TypeVar("Class", bound=type[Any])
Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")


def meant(name: str, known: Iterable[str]) -> str:
    """`Did you mean kinds? ` for the known name that means the same as an unknown one, or else is nearest to it.

    Nothing where none is near.
    """
    names = list(known)
    near = [one for one in SAME.get(name, ()) if one in names] or get_close_matches(name, names, n=1)
    return f"Did you mean {near[0]}? " if near else ""


def misuse(kind: type[Any], method: Callable[..., Any], arguments: Iterable[str], error: TypeError) -> TypeError:
    """Python's error about the arguments of a call, naming the class it was made on and the argument likely meant."""
    _, parted, complaint = str(error).partition("() ")
    if not parted:
        return error
    parameters = inspect.signature(method).parameters
    known = [name for name in parameters if name != "self"]
    unknown = next((name for name in arguments if name not in parameters), None)
    message = f"{kind.__name__}.{method.__name__}() {complaint.partition('. Did you mean')[0]}"
    return TypeError(message if unknown is None else f"{message}. {meant(unknown, known)}".rstrip())


def plainly_refusing(kind: Class) -> Class:
    """The class itself, whose coroutine methods refuse arguments that they do not have with `misuse`."""
    for name in dir(kind):
        method = getattr(kind, name)
        if not name.startswith("_") and inspect.iscoroutinefunction(method) and inspect.isfunction(method):
            setattr(kind, name, _refusing(method, f"{kind.__name__}.{name}"))
    return kind


def begun(method: Callable[..., Value], asked: Any, /, *arguments: Any, **named: Any) -> Value:
    """The coroutine of a coroutine method, which a caller `asked` for. No line of it has run yet.

    Raises:
        TypeError: the arguments are not those of the method.
    """
    try:
        return method(*arguments, **named)
    except TypeError as error:
        raise misuse(cast("type[Any]", type(asked)), method, named, error) from None


def shaped(function: Function, method: Callable[..., Any]) -> Function:
    """The function itself, which shows the signature, the annotations and the docstring of a method.

    Only of `self` it tells nothing: it is what whoever looks at the function has at hand.
    """
    signature = inspect.signature(method)
    itself, *others = signature.parameters.values()
    shape: Any = function
    shape.__signature__ = signature.replace(parameters=[itself.replace(annotation=itself.empty), *others])
    shape.__annotations__ = {name: told for name, told in method.__annotations__.items() if name != itself.name}
    shape.__doc__ = method.__doc__
    return function


def check_opened(handle: Any, given: Any, kind: type[Value], opening: Mapping[str, Any]) -> Value:
    """What a handle is made of, which only `open` has.

    Raises:
        InvalidInput: it is something else, such as the location of a store, or there are arguments of `opening` one.
    """
    if not isinstance(given, kind) or opening:
        name = type(handle).__name__
        raise InvalidInput(
            f"{name}(…) opens no store.",
            field="location",
            remedy=f'Call {name}.open, as in {name}.open("./memory"), with the same arguments.',
        )
    return given


def _refusing(method: Callable[..., Awaitable[Any]], name: str) -> Callable[..., Awaitable[Any]]:
    method = inspect.unwrap(method)

    @wraps(method)
    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await begun(method, self, self, *args, **kwargs)

    call.__qualname__ = name
    return shaped(call, method)
