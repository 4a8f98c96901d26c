"""Every setting explains itself, every number has a unit, and the documentation names them all."""

from __future__ import annotations

import re
from typing import Annotated, get_args

from pydantic import BaseModel, Field

from ebbtide.settings import Settings
from tests.tidy.tree import ROOT, assert_none

UNIT = re.compile(
    r"\b(?:milliseconds?|ms|seconds?|minutes?|hours?|days?|characters?|tokens?|bytes|kilobytes|megabytes"
    r"|rows|nodes|connections|threads|attempts|a count|counted in|per (?:second|minute)|between 0 and 1)\b"
)


def unexplained(settings: type[BaseModel]) -> list[str]:
    """The fields without a description."""
    return [name for name, field in settings.model_fields.items() if not (field.description or "").endswith(".")]


def without_unit(settings: type[BaseModel]) -> list[str]:
    """The numeric fields whose name and description do not say what is counted."""
    return [
        name
        for name, field in settings.model_fields.items()
        if {int, float} & {field.annotation, *get_args(field.annotation)}
        and not UNIT.search(f"{name.replace('_', ' ')}. {field.description}")
    ]


def test_every_setting_is_described_in_a_sentence() -> None:
    assert_none(unexplained(Settings))


def test_every_number_has_a_unit() -> None:
    assert_none(without_unit(Settings))


def test_every_setting_is_in_the_documentation() -> None:
    pages = [ROOT / "README.md", ROOT / "docs" / "settings.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages if page.exists())
    documented = set(re.findall(r"`(?:EBBTIDE_)?(\w+)`", text.lower().replace("ebbtide_", "")))
    assert_none(sorted(set(Settings.model_fields) - documented))


def test_a_careless_setting_is_found() -> None:
    class Careless(BaseModel):
        size: Annotated[int, Field(description="How big.")] = 1
        timeout: float | None = None
        timeout_seconds: Annotated[float, Field(description="How long to wait.")] = 1.0

    assert unexplained(Careless) == ["timeout"]
    assert without_unit(Careless) == ["size", "timeout"]
