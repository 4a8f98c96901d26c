"""The token of a dry run confirms one deed of one caller, and no other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Ebbtide, Policy
from ebbtide.errors import Conflict, InvalidInput
from tests.conftest import Opener
from tests.paths.test_curation import NORTH
from tests.stores import SETTINGS

NAMESPACE = "vector.team.notes"
SCOPES = ("memory:read", "memory:write", "memory:delete")

Deed = Callable[[Ebbtide, str | None], Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "old.md").write_text("# Old\n\nThe old harbour has a crane.\n")
    (tmp_path / "notes" / "new.md").write_text("# New\n\nThe new harbour has two.\n")
    return tmp_path


def deeds() -> dict[str, Deed]:
    """Every verb that a token confirms, each with one other thing that it may be narrowed to."""
    there: dict[str, Any] = {"namespaces": [NAMESPACE]}
    return {
        "filter": lambda handle, token: handle.forget_where(tags=["old"], dry_run=token is None, token=token),
        "filter there": lambda handle, token: handle.forget_where(
            tags=["old"], **there, dry_run=token is None, token=token
        ),
        "ids": lambda handle, token: handle.forget_where(
            ids=[one.id for one in handle.browse(tags=["old"])], dry_run=token is None, token=token
        ),
        "rules": lambda handle, token: handle.consolidate(dry_run=token is None, token=token),
        "rules there": lambda handle, token: handle.consolidate(**there, dry_run=token is None, token=token),
        "model": lambda handle, token: handle.consolidate(by="model", dry_run=token is None, token=token),
        "sync": lambda handle, token: handle.ingest("notes", namespace=NAMESPACE, sync=True, token=token),
    }


def callers(memory: Ebbtide) -> dict[str, Ebbtide]:
    """Handles that read and forget the very same memories, and differ in a single thing."""
    memory.policies.set(
        "default",
        Policy(read=["*"], tool_read=["*"], write=NAMESPACE, allow_write=True, allow_tool_write=True),
    )
    return {
        "owner": memory,
        "user": memory.scoped(user="ana"),
        "other user": memory.scoped(user="bob"),
        "session": memory.scoped(session="s-1"),
        "chat": memory.scoped(chat="c-1"),
        "branch": memory.scoped(chat="c-1", branch="main"),
        "policed": memory.as_agent("default", SCOPES),
        "policed with more": memory.as_agent("default", [*SCOPES, "memory:admin"]),
        "task": memory.as_agent("default", SCOPES, task="tidy"),
    }


@pytest.fixture
def memory(open_store: Opener, folder: Path) -> Ebbtide:
    store = open_store(settings=SETTINGS.model_copy(update={"consolidator": "fake"}))
    for text in ("The crane is red and tall.", "The crane is tall and red."):
        store.remember(text, vector=NORTH, tags=["old"], namespace=NAMESPACE)
    store.ingest("notes", namespace=NAMESPACE)
    (folder / "notes" / "old.md").unlink()
    return store


def test_a_token_is_for_its_deed_alone(memory: Ebbtide) -> None:
    known = deeds()
    tokens = {name: deed(memory, None).token for name, deed in known.items()}
    assert all(tokens.values())
    for name, other in permutations(known, 2):
        with pytest.raises((Conflict, InvalidInput)) as caught:
            known[other](memory, tokens[name])
        assert caught.value.field == "token", (name, other)
    assert len(memory.browse(tags=["old"])) == 2
    assert len(memory.documents.list()) == 2


@pytest.mark.parametrize("name", deeds())
def test_a_token_is_for_its_caller_alone(memory: Ebbtide, name: str) -> None:
    deed = deeds()[name]
    known = callers(memory)
    tokens = {each: deed(handle, None).token for each, handle in known.items()}
    for mine, other in permutations(known, 2):
        with pytest.raises(Conflict) as caught:
            deed(known[other], tokens[mine])
        assert caught.value.field == "token", (mine, other)
    deed(known["user"], tokens["user"])
