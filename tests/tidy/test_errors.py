"""The tree of errors: drawn, exported, each with a code, a message and a remedy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ebbtide import errors
from ebbtide.errors import EbbtideError
from tests.tidy.tree import assert_none

BRANCH = re.compile(r"^(?P<indent>[ │]*(?:[├└]── )?)(?P<name>[A-Z]\w+)(?:\s|$)", re.MULTILINE)


def descendants(parent: type[EbbtideError]) -> Iterator[type[EbbtideError]]:
    """Every subclass of `parent` that Ebbtide itself defines, however deep."""
    for child in parent.__subclasses__():
        if child.__module__.startswith("ebbtide"):
            yield child
            yield from descendants(child)


def careless(classes: Iterable[type[EbbtideError]]) -> list[str]:
    """The classes without a code of their own, or whose docstring is not a message and a remedy."""
    return [
        error.__name__
        for error in classes
        if "code" not in vars(error) or len(re.findall(r"[.?!](?:\s|$)", vars(error).get("__doc__") or "")) < 2
    ]


def drawn_parents(drawing: str) -> dict[str, str]:
    """Each drawn class and the one it hangs from."""
    parents: dict[str, str] = {}
    trail: list[tuple[int, str]] = []
    for found in BRANCH.finditer(drawing):
        depth, name = len(found["indent"]), found["name"]
        trail = [(level, above) for level, above in trail if level < depth]
        if trail:
            parents[name] = trail[-1][1]
        trail.append((depth, name))
    return parents


EVERY = [EbbtideError, *descendants(EbbtideError)]


def test_every_error_has_a_code_a_message_and_a_remedy() -> None:
    assert_none(careless(EVERY))


def test_codes_are_unique() -> None:
    assert_none([code for code, uses in Counter(error.code for error in EVERY).items() if uses > 1])


def test_every_error_is_exported() -> None:
    assert errors.__all__ == sorted(error.__name__ for error in EVERY)


def test_the_drawing_shows_the_tree_as_it_is() -> None:
    drawing = (errors.__doc__ or "").partition("EbbtideError\n")
    actual = {error.__name__: error.__bases__[0].__name__ for error in EVERY[1:]}
    assert drawn_parents("EbbtideError\n" + drawing[2].partition("\n\n")[0]) == actual


def test_a_careless_error_is_found() -> None:
    class Unremedied(EbbtideError):
        """It went wrong."""

        code = "unremedied"

    class Codeless(EbbtideError):
        """It went wrong. Try again."""

    assert careless([Unremedied, Codeless]) == ["Unremedied", "Codeless"]


def test_a_drawing_is_read() -> None:
    drawing = "Root\n    ├── Branch   said  (400)\n    │   └── Leaf\n    └── Other\n"
    assert drawn_parents(drawing) == {"Branch": "Root", "Leaf": "Branch", "Other": "Root"}
