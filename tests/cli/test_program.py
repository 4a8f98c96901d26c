"""The program as a whole: its commands, its help, its start."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from ebbtide.cli.app import OTHERWISE_CALLED, cli
from ebbtide.rank.presets import PRESETS
from ebbtide.read.shares import TOTAL_TOKENS
from tests.cli.conftest import Run
from tests.tidy.tree import ROOT, assert_none

SCOPE = {"--tenant", "--agent", "--user", "--task", "--chat", "--session", "--timezone"}
COMMON = SCOPE | {"--store", "--embedder", "--json", "--debug"}


def commands(group: click.Group = cli, path: str = "ebbtide") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with its full name."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def test_every_command_has_the_common_options() -> None:
    lacking = [
        f"{name}: {option}"
        for name, command in commands()
        for option in sorted(COMMON - {option for parameter in command.params for option in parameter.opts})
    ]
    assert_none(lacking)


def test_every_command_and_option_is_explained() -> None:
    unexplained = [name for name, command in commands() if not command.help]
    unexplained += [
        f"{name} {parameter.opts[0]}"
        for name, command in commands()
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.help
    ]
    assert_none(unexplained)


def test_an_argument_that_may_be_left_out_stands_in_brackets() -> None:
    def shown(command: click.Command, argument: click.Argument) -> str:
        return argument.make_metavar(click.Context(command))

    wrong = [
        f"{name} {shown(command, argument)}"
        for name, command in commands()
        for argument in command.params
        if isinstance(argument, click.Argument)
        and argument.nargs == 1
        and argument.required == shown(command, argument).startswith("[")
    ]
    assert_none(wrong)


def test_common_options_may_stand_before_the_command(ebbtide: Run, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EBBTIDE_STORE")
    assert ebbtide("--store", dsn, "--json", "jobs", "--agent=ada", "list").json == {"items": [], "next": None}
    ran = ebbtide("--json", f"--store={dsn}", "recall", "--", "--json")
    assert ran.json["hits"] == []
    assert ebbtide("--json", "recal", "x").json["error"]["code"] == "invalid_input"
    assert ebbtide("--json", "--store").code == 2
    assert ebbtide("--limit", "3", "recall", "x").code == 2


def test_every_command_is_in_the_documentation() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert_none([name for name in cli.commands if f"`{name}" not in page])


def test_its_own_options_stand_before_those_of_every_command(run: Run) -> None:
    own, common = run("recall", "--help").out.split("Options of every command:")
    assert "--limit" in own
    assert "--help" in own
    assert not [option for option in COMMON if re.search(rf"^  {option}\b", own, re.MULTILINE)]
    assert not [option for option in COMMON if option not in common]
    assert "[default: default]" in common


def test_defaults_are_shown(run: Run) -> None:
    def shown(command: str, option: str) -> str:
        help_ = " ".join(run(command, "--help").out.split())
        return help_.partition(f"{option} ")[2].partition("[default: ")[2].partition("]")[0]

    assert shown("recall", "--limit") == f"the profile's, {PRESETS['tide'].limit} of tide"
    assert shown("context", "--budget") == f"{TOTAL_TOKENS} for several parts"


def test_what_commands_do_is_told_in_whole_sentences(run: Run) -> None:
    groups = [name for name, one in cli.commands.items() if isinstance(one, click.Group)]
    for path in [[], *([name] for name in groups)]:
        assert "..." not in run(*path, "--help").out.partition("Commands:")[2]


@pytest.mark.parametrize(("word", "meant"), [("search", "recall"), ("delete", "forget"), ("list", "browse")])
def test_what_is_called_otherwise_elsewhere_is_told_by_its_name_here(run: Run, word: str, meant: str) -> None:
    ran = run(word, "x", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "invalid_input")
    assert f"Did you mean {meant}?" in ran.json["error"]["message"]


def test_what_is_told_of_is_a_command_and_what_is_not_called_so_is_none() -> None:
    assert set(OTHERWISE_CALLED.values()) <= set(cli.commands)
    assert not set(OTHERWISE_CALLED) & set(cli.commands)


def test_help_is_an_answer(run: Run) -> None:
    for arguments in ([], ["--help"], ["recall", "-h"], ["jobs", "--help"]):
        ran = run(*arguments)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("Usage: ebbtide")
    assert run("--version").out.startswith("ebbtide 0.")


def test_the_start_loads_nothing_heavy() -> None:
    heavy = ("httpx", "onnxruntime", "procrastinate", "rich", "tokenizers")
    program = (
        f"import sys; from ebbtide.cli import main; main(['--help']); sys.exit(str(set({heavy!r}) & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert answer.stderr == "set()\n"


def test_it_runs_as_a_module() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "ebbtide", "recal", "--json"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert '"invalid_input"' in answer.stdout


@pytest.mark.parametrize("name", ["profiles", "jobs"])
def test_groups_list_their_commands(run: Run, name: str) -> None:
    assert "list" in run(name, "--help").out
