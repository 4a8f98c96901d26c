"""Personal data on its way in and out: kept and marked, redacted, dropped, quarantined; no audit tells a value."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput

Connection = psycopg.Connection[Any]
TEXT = "Ana's address is ana@example.com"
VALUE = "ana@example.com"


def everything_stored(owner: Connection) -> str:
    """All that the store's tables hold, as text."""
    tables = ("memory", "memory_version", "audit", "idempotency", "conflict", "memory_link")
    return json.dumps(
        [owner.execute(f"SELECT to_jsonb(t) FROM {name} t").fetchall() for name in tables],  # noqa: S608
        default=str,
    )


def test_where_nothing_is_laid_down_the_text_is_kept_and_marked(memory: Ebbtide, owner: Connection) -> None:
    assert memory.remember(TEXT).outcome == "stored"
    assert owner.execute("SELECT personal_data FROM memory").fetchall() == [(["email"],)]
    assert [hit.content for hit in memory.recall("Ana's address")] == [TEXT]


def test_redaction_comes_before_everything(memory: Ebbtide, owner: Connection) -> None:
    memory.rules.add("vector.*", personal_data="redact")
    given: dict[str, Any] = {
        "metadata": {"mail": VALUE},
        "tags": [VALUE],
        "idempotency_key": "k",
        "vector": [1.0] + [0.0] * 383,
    }
    stored = memory.remember(TEXT, **given)
    assert stored.outcome == "stored"
    assert stored.memory is not None
    assert stored.memory.content == "Ana's address is [EMAIL]"
    assert (stored.memory.metadata, stored.memory.tags) == ({"mail": "[EMAIL]"}, ("[EMAIL]",))
    assert stored.warnings == ("personal data was redacted",)
    assert VALUE not in everything_stored(owner)
    assert memory.remember("Ana's address is bob@example.com").outcome == "duplicate"
    assert memory.remember(TEXT, **given).memory.id == stored.memory.id
    found = memory.recall("[EMAIL] Ana's address is")
    assert found[0].similarity == pytest.approx(1.0, abs=0.1)


def test_a_dropped_draft_leaves_only_its_kind(memory: Ebbtide, owner: Connection) -> None:
    memory.rules.add("vector.*", personal_data="drop")
    answers = memory.remember_many([{"content": TEXT, "idempotency_key": "k"}, "The ferry leaves at seven"])
    assert [(answer.outcome, answer.memory is None) for answer in answers] == [("dropped", True), ("stored", False)]
    assert len(memory.browse()) == 1
    assert VALUE not in everything_stored(owner)
    [(detail,)] = owner.execute("SELECT detail FROM audit WHERE memory_id IS NULL").fetchall()
    assert detail == {"outcome": "dropped", "namespace": "vector.global.memory", "personal_data": ["email"]}
    again = memory.remember(TEXT, idempotency_key="k")
    assert (again.outcome, again.memory) == ("dropped", None)


def test_a_quarantined_draft_is_kept_from_every_recall(memory: Ebbtide) -> None:
    memory.rules.add("vector.*", personal_data="quarantine")
    answers = memory.remember_many([TEXT, TEXT])
    assert [answer.outcome for answer in answers] == ["quarantined", "duplicate"]
    assert answers[0].memory.status == "quarantined"
    assert len(memory.recall("Ana's address")) == 0
    assert memory.browse() == []
    assert memory.get(answers[0].memory.id).content == TEXT
    assert memory.explain("Ana's address", answers[0].memory.id).rule == "status"


def test_the_longest_pattern_decides_and_then_the_tenant(memory: Ebbtide) -> None:
    memory.rules.set_personal_data("drop")
    memory.rules.add("vector.*", bonus=0.1)
    memory.rules.add("vector.team.*", personal_data="redact")
    memory.rules.add("vector.team.contacts", personal_data="allow")
    outcomes = {
        place: memory.remember(TEXT, namespace=place)
        for place in ("vector.other", "vector.team.a", "vector.team.contacts.x")
    }
    assert outcomes["vector.other"].outcome == "dropped"
    assert outcomes["vector.team.a"].memory.content == "Ana's address is [EMAIL]"
    assert outcomes["vector.team.contacts.x"].memory.content == TEXT
    assert memory.scoped(tenant="b").remember(TEXT).outcome == "stored"
    memory.rules.set_personal_data(None)
    assert memory.remember(TEXT, namespace="vector.other").outcome == "stored"
    with pytest.raises(InvalidInput) as caught:
        memory.rules.set_personal_data("hide")
    assert caught.value.field == "personal_data"


@pytest.mark.parametrize("mode", ["drop", "quarantine"])
def test_a_later_rule_withholds_what_was_written_before(memory: Ebbtide, mode: str) -> None:
    held = memory.remember(TEXT).memory
    memory.remember_many([f"Ana's address number {number} is unknown" for number in range(3)])
    memory.rules.add("vector.*", personal_data=mode)
    answer = memory.recall("Ana's address", limit=3, trace=True)
    assert len(answer) == 3
    assert held.id not in {hit.id for hit in answer}
    assert answer.trace is not None
    assert [(drop.id, drop.rule) for drop in answer.trace.drops if drop.stage == "personal_data"] == [
        (held.id, "personal_data")
    ]
    assert memory.explain("Ana's address", held.id, limit=3).rule == "personal_data"


def test_a_later_rule_redacts_what_was_written_before(memory: Ebbtide) -> None:
    memory.remember(TEXT, speaker=VALUE, metadata={"mail": VALUE})
    memory.rules.add("vector.*", personal_data="redact")
    for profile in ("tide", "agentium"):
        [hit] = memory.recall("Ana's address", profile=profile)
        assert hit.content == hit.memory.content == "Ana's address is [EMAIL]"
        assert (hit.memory.speaker, hit.memory.metadata) == ("[EMAIL]", {"mail": "[EMAIL]"})
    assert VALUE not in memory.context("Ana's address").text


def test_a_profile_that_drops_personal_data_yields_to_a_rule(memory: Ebbtide) -> None:
    memory.remember(TEXT)
    asked: dict[str, Any] = {"profile": "ibex", "min_similarity": 0.1}
    assert len(memory.recall(TEXT, **asked)) == 0
    memory.rules.add("vector.*", personal_data="allow")
    assert len(memory.recall(TEXT, **asked)) == 1


def test_a_revision_passes_the_screen(memory: Ebbtide, owner: Connection) -> None:
    stored = memory.remember("Ana's address is not known").memory
    rule = memory.rules.add("vector.*", personal_data="redact")
    assert memory.revise(stored.id, TEXT).content == "Ana's address is [EMAIL]"
    memory.rules.remove(str(rule.id))
    rule = memory.rules.add("vector.*", personal_data="drop")
    with pytest.raises(InvalidInput, match="email") as caught:
        memory.revise(stored.id, TEXT)
    assert caught.value.field == "content"
    assert VALUE not in str(caught.value) + everything_stored(owner)
    memory.rules.remove(str(rule.id))
    memory.revise(stored.id, TEXT)
    assert owner.execute("SELECT personal_data FROM memory").fetchall() == [(["email"],)]


def test_a_write_says_which_kinds_were_kept_and_never_the_values(memory: Ebbtide, owner: Any) -> None:
    text = "Her card number is 4111 1111 1111 1111 and mail ann@example.org"
    stored = memory.remember(text)
    assert (stored.outcome, stored.warnings) == ("stored", ("personal data was kept: email, card",))
    assert memory.remember("The ferry leaves at seven").warnings == ()
    memory.rules.add("vector.open", personal_data="allow")
    assert memory.remember(f"{text} again", namespace="vector.open").warnings == ()
    details = [row[0] for row in owner.execute("SELECT detail FROM audit WHERE action = 'write'").fetchall()]
    assert all("kept" not in str(detail) and "4111" not in str(detail) for detail in details)
