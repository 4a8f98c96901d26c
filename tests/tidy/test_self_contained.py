"""No file speaks of a computer, a person or a conversation that a reader of the project cannot know."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tidy import text_rules as rules
from tests.tidy.tree import ROOT, Rule, assert_none, broken, project_files

RULES = [rules.names_no_address, rules.names_no_foreign_path, rules.names_nothing_denied]
BINARY = {".gif", ".gz", ".ico", ".npy", ".npz", ".onnx", ".png", ".webp", ".woff2"}
# A vocabulary holds every word there is.
EXEMPT = {ROOT / "src" / "ebbtide" / "models" / "bert-base-uncased-vocab.txt"}


def text_files() -> list[Path]:
    return [path for path in project_files() if path.suffix not in BINARY and path not in EXEMPT]


@pytest.mark.parametrize("rule", RULES)
def test_every_file_keeps_the_rule(rule: Rule) -> None:
    assert_none(broken(rule, text_files()))


def test_the_files_are_found() -> None:
    assert {ROOT / "pyproject.toml", ROOT / ".ci" / "run", Path(__file__)} <= set(text_files())


BAD = [
    (rules.names_no_address, "write to ada" + "@lovelace.org"),
    (rules.names_no_foreign_path, "see " + "/home" + "/ada/notes"),
    (rules.names_no_foreign_path, "open('" + "/work" + "/data.json')"),
    (rules.names_no_foreign_path, "see .." + "/shared/notes"),
    (rules.names_nothing_denied, "as asked in issue" + " 12"),
    (rules.names_nothing_denied, "Co-Authored" + "-By: a model"),
]
GOOD = [
    (rules.names_no_address, "ada@example.com, ada@mail.example, @pytest.fixture, postgresql://ada@localhost/db"),
    (rules.names_no_foreign_path, "https://example.com/home/ada ./papers/ada /tmp/ebbtide-1"),
    (rules.names_nothing_denied, "The issue is open; agents and tissue 5."),
]


@pytest.mark.parametrize(("rule", "text"), BAD)
def test_the_rule_finds_a_bad_example(rule: Rule, text: str) -> None:
    assert list(rule(text))


@pytest.mark.parametrize(("rule", "text"), GOOD)
def test_the_rule_leaves_a_good_example_alone(rule: Rule, text: str) -> None:
    assert list(rule(text)) == []
