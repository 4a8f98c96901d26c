"""forget-where, erase, hold, receipts and audit, as JSON and for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg

from tests.cli.conftest import Run


def remember(ebbtide: Run, text: str, *options: object) -> str:
    return ebbtide("remember", text, *options, "--json").json["memory"]["id"]


def test_a_filter_is_looked_at_and_confirmed(ebbtide: Run) -> None:
    old = remember(ebbtide, "The gate code is 4711", "--tag", "code")
    remember(ebbtide, "Breakfast is at eight")
    looked = ebbtide("forget-where", "--tag", "code")
    assert old in looked.out
    assert "The gate code" in looked.out
    token = looked.out.split("--token ")[1].strip()
    assert ebbtide("forget-where", "--tag", "other", "--token", token, "--json").json["error"]["code"] == "conflict"
    done = ebbtide("forget-where", "--tag", "code", "--token", token, "--json").json
    assert (done["count"], done["receipts"][0]["id"]) == (1, old)
    assert ebbtide("forget-where").code == 2
    assert "the tenant default" in ebbtide("erase", "tenant", "--confirm", "yes").err
    for place in ("chat", "task", "session"):
        error = ebbtide("forget-where", f"--{place}", "a", "--json").json["error"]
        assert error["field"] == place
        assert f'--where \'{{"{place}": "a"}}\'' in error["remedy"]
    assert "would be forgotten" in ebbtide("forget-where", "--query", "breakfast").out
    assert len(ebbtide("browse", "--json").json["items"]) == 1


def test_a_receipt_is_verified_by_its_id_its_json_and_its_file(
    ebbtide: Run, tmp_path: Path, owner: psycopg.Connection[Any]
) -> None:
    id_ = remember(ebbtide, "The gate code is 4711")
    answered = ebbtide("forget", id_, "--expected-revision", 1, "--json").out
    receipt = json.loads(answered)
    (tmp_path / "receipt.json").write_text(answered, encoding="utf-8")
    for given in (receipt["receipt_id"], answered, tmp_path / "receipt.json"):
        assert ebbtide("receipts", "verify", given, "--json").json["valid"] is True
    assert ebbtide("receipts", "verify").out == "as it should be\n"
    assert id_ in ebbtide("receipts", "list").out
    assert ebbtide("receipts", "list", "--about", id_, "--json").json["items"][0]["receipt_id"] == receipt["receipt_id"]
    owner.execute("UPDATE memory SET content = 'back'")
    verified = ebbtide("receipts", "verify", receipt["receipt_id"])
    assert (verified.code, "memory" in verified.out) == (1, True)


def test_a_user_and_a_tenant_are_erased_when_named_twice(ebbtide: Run) -> None:
    remember(ebbtide, "likes oranges", "--user", "ana")
    remember(ebbtide, "likes apples", "--user", "bob")
    assert ebbtide("erase", "user", "ana", "--confirm", "bob").code == 2
    assert ebbtide("erase", "user", "ana", "--confirm", "ana", "--json").json["memories"] == 1
    assert ebbtide("erase", "tenant", "--confirm", "other").code == 2
    assert "1 memory" in ebbtide("erase", "tenant", "--confirm", "default").out
    assert ebbtide("browse", "--json").json["items"] == []


def test_a_hold_stands_in_the_way_until_it_is_released(ebbtide: Run) -> None:
    id_ = remember(ebbtide, "The gate code is 4711", "--user", "ana")
    hold = ebbtide("hold", "place", "--of-user", "ana", "--reason", "case 12", "--json").json["id"]
    assert ebbtide("forget", id_, "--expected-revision", 1, "--json").json["error"]["code"] == "held"
    assert "case 12" in ebbtide("hold", "list").out
    assert ebbtide("hold", "release", hold).code == 0
    assert ebbtide("hold", "list", "--json").json == []
    assert len(ebbtide("hold", "list", "--released", "--json").json) == 1
    assert ebbtide("hold", "place", "--id", id_, "--reason", "r", "--json").json["covers"] == {"ids": [id_]}
    assert ebbtide("hold", "place", "--where", '{"customer": 7}', "--reason", "r").code == 0


def test_the_audit_is_shown_verified_and_exported(ebbtide: Run, tmp_path: Path, owner: psycopg.Connection[Any]) -> None:
    id_ = remember(ebbtide, "The gate code is 4711")
    ebbtide("recall", "gate")
    assert id_ in ebbtide("audit", "show", "--action", "write").out
    assert ebbtide("audit", "show", "--memory", id_, "--json").json["items"][0]["action"] == "write"
    assert "as it should be" in ebbtide("audit", "verify").out
    exported = [json.loads(line) for line in ebbtide("audit", "export").out.splitlines()]
    assert [next(iter(record)) for record in exported] == ["entry", "entry", "seal", "seal"]
    assert ebbtide("audit", "export", tmp_path / "audit.jsonl", "--json").json["records"] == 4
    assert "4711" not in (tmp_path / "audit.jsonl").read_text(encoding="utf-8")
    owner.execute("DELETE FROM audit WHERE action = 'write'")
    verified = ebbtide("audit", "verify")
    assert (verified.code, "are gone" in verified.out) == (1, True)
