"""What a walk does next, by chance: rules with what their arguments are drawn from, and one life of a machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

Value = TypeVar("Value")
Draw = Callable[[Random], Any]
Rule = TypeVar("Rule", bound=Callable[..., None])

RULE = "drawn_from"


def rule(**draws: Draw) -> Callable[[Rule], Rule]:
    """A method that a life may call at any step, with arguments that are drawn."""

    def marked(method: Rule) -> Rule:
        setattr(method, RULE, draws)
        return method

    return marked


def one_of(values: Sequence[Value]) -> Callable[[Random], Value]:
    return lambda chance: chance.choice(values)


def some_of(values: Sequence[Value], most: int) -> Callable[[Random], list[Value]]:
    """One to so many of the values, the same one perhaps more than once."""
    return lambda chance: [chance.choice(values) for _ in range(chance.randint(1, most))]


def rules_of(machine: type) -> list[tuple[str, dict[str, Draw]]]:
    """The rules of a machine by their names."""
    found = inspect.getmembers(machine, lambda member: hasattr(member, RULE))
    return [(name, getattr(method, RULE)) for name, method in found]


def live(machine: Any, seed: int, steps: int) -> None:
    """One life: it begins, takes its steps and ends. A failure tells the seed and what the life did until then.

    Raises:
        AssertionError: a step, or the end, found what must not be.
    """
    chance = Random(seed)
    rules = rules_of(type(machine))
    taken: list[str] = []
    try:
        machine.begin()
        for _ in range(steps):
            name, draws = chance.choice(rules)
            drawn = {argument: draw(chance) for argument, draw in draws.items()}
            taken.append(f"{name}({', '.join(f'{argument}={value!r}' for argument, value in drawn.items())})")
            getattr(machine, name)(**drawn)
        taken.append("end()")
        machine.end()
    except Exception as error:
        lived = "\n".join(f"{place:3} {step}" for place, step in enumerate(taken, 1))
        error.add_note(f"life {seed}:\n{lived}")
        raise
