"""The house's limits: short files and functions, SQL apart, one clock, no print, no silent except."""

from __future__ import annotations

import pytest

from tests.tidy import python_rules as rules
from tests.tidy.tree import SOURCE, STATEMENTS, Rule, assert_none, broken, python_files

EVERYWHERE = [rules.file_is_short, rules.functions_are_short]
IN_SOURCE = [
    rules.holds_no_statement,
    rules.broad_excepts_have_reasons,
    rules.causes_tell_no_value,
    rules.says_nothing_is_unfinished,
]


@pytest.mark.parametrize("rule", EVERYWHERE)
def test_all_code_keeps_the_rule(rule: Rule) -> None:
    assert_none(broken(rule, python_files()))


@pytest.mark.parametrize("rule", IN_SOURCE)
def test_source_keeps_the_rule(rule: Rule) -> None:
    assert_none(broken(rule, python_files("src")))


def test_statement_files_announce_nothing_unfinished() -> None:
    assert_none(broken(rules.says_nothing_is_unfinished, STATEMENTS.rglob("*.sql")))


def test_modules_open_with_one_line() -> None:
    # The tree of errors is drawn in its module's docstring.
    paths = [path for path in python_files() if path != SOURCE / "errors.py"]
    assert_none(broken(rules.opens_with_one_line, paths))


def test_only_the_clock_reads_the_clock() -> None:
    paths = [path for path in python_files("src") if path != SOURCE / "clock.py"]
    assert_none(broken(rules.reads_no_clock, paths))


def test_only_the_command_line_prints() -> None:
    paths = [path for path in python_files("src") if SOURCE / "cli" not in path.parents]
    assert_none(broken(rules.prints_nothing, paths))


def test_only_the_database_speaks_to_the_session() -> None:
    paths = [path for path in python_files("src") if SOURCE / "db" not in path.parents]
    assert_none(broken(rules.holds_no_session_command, paths))


LONG_FUNCTION = "def long() -> None:\n" + "    pass\n" * rules.MAX_FUNCTION_LINES
BROAD = "try:\n    go()\n\n\nexcept {}:{}\n    stop()\n"
BAD = [
    (rules.file_is_short, "pass\n" * (rules.MAX_FILE_LINES + 1)),
    (rules.functions_are_short, LONG_FUNCTION),
    (rules.functions_are_short, "async " + LONG_FUNCTION),
    (rules.holds_no_statement, 'rows = "SELECT 1"'),
    (rules.holds_no_statement, 'rows = f"""\n  UPDATE {table} SET name = 1"""'),
    (rules.holds_no_statement, 'rows = "select id from memory"'),
    (rules.holds_no_statement, 'rows = "DROP TABLE memory"'),
    (rules.causes_tell_no_value, "try:\n    go()\nexcept ValueError as error:\n    raise Wrong from error"),
    (
        rules.causes_tell_no_value,
        "try:\n    go()\nexcept (OSError, json.JSONDecodeError) as e:\n    raise No() from e",
    ),
    (rules.holds_no_session_command, 'command = "SET LOCAL jit = off"'),
    (rules.reads_no_clock, "datetime.now(UTC)"),
    (rules.reads_no_clock, "datetime.datetime.utcnow()"),
    (rules.reads_no_clock, "clock = time.time"),
    (rules.reads_no_clock, "from time import time"),
    (rules.reads_no_clock, "date.today()"),
    (rules.prints_nothing, "print(1)"),
    (rules.broad_excepts_have_reasons, BROAD.format("", "  # every error is caught here")),
    (rules.broad_excepts_have_reasons, BROAD.format(" Exception", "")),
    (rules.broad_excepts_have_reasons, BROAD.format(" Exception", "  # noqa: BLE001, S110, S112")),
    (rules.broad_excepts_have_reasons, BROAD.format(" (ValueError, BaseException) as error", "")),
    (rules.broad_excepts_have_reasons, "try:\n    go()\nexcept Exception as error:\n    raise StoreError from error"),
    (rules.opens_with_one_line, "x = 1"),
    (rules.opens_with_one_line, '"""One.\n\nTwo."""'),
    (rules.says_nothing_is_unfinished, "# TODO: later"),
    (rules.says_nothing_is_unfinished, "raise NotImplementedError"),
    (rules.says_nothing_is_unfinished, '"""A stub of a reader."""'),
]
GOOD = [
    (rules.file_is_short, "pass\n" * rules.MAX_FILE_LINES),
    (rules.functions_are_short, LONG_FUNCTION.removesuffix("    pass\n")),
    (rules.holds_no_statement, 'def find():\n    """SELECT the best."""\n    return "Select a memory, or update it."'),
    (rules.holds_no_session_command, 'command = "Set the limit."'),
    (rules.reads_no_clock, "clock.now(); time.monotonic(); time.perf_counter(); time.sleep(1)"),
    (rules.prints_nothing, "sheet.print(1)"),
    (rules.broad_excepts_have_reasons, BROAD.format(" ValueError", "")),
    (rules.broad_excepts_have_reasons, BROAD.format(" Exception", "  # noqa: BLE001 - a listener never ends it")),
    (rules.broad_excepts_have_reasons, "try:\n    go()\nexcept BaseException:\n    stop()\n    raise"),
    (rules.opens_with_one_line, '"""What this is for."""'),
    (rules.opens_with_one_line, ""),
    (rules.says_nothing_is_unfinished, "stubborn = 'a hacksaw'"),
]


@pytest.mark.parametrize(("rule", "source"), BAD)
def test_the_rule_finds_a_bad_example(rule: Rule, source: str) -> None:
    assert list(rule(source))


@pytest.mark.parametrize(("rule", "source"), GOOD)
def test_the_rule_leaves_a_good_example_alone(rule: Rule, source: str) -> None:
    assert list(rule(source)) == []
