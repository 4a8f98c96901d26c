"""policy and rules, as JSON and for people."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_a_policy_is_set_shown_and_deleted(ebbtide: Run) -> None:
    own = "vector.agent.${user_id}.*"
    options = ["--read", own, "--read", "vector.global.*", "--write", "vector.agent.${user_id}.memory", "--top-k", 7]
    ran = ebbtide("policy", "set", "--agent", "helper", *options, "--allow-write", "--json")
    assert (ran.code, ran.json) == (0, {"agent": "helper", "task": None, "warnings": []})
    assert ebbtide("policy", "set", "--agent", "helper", "--task", "briefing", "--forbid-write").out == (
        "set  agent helper, task briefing\n"
    )
    place = ["--agent", "helper", "--task", "briefing", "--user", "ana"]
    shown = ebbtide("policy", "show", *place, "--json").json
    assert shown["read"] == {
        "value": [own, "vector.global.*"],
        "source": "agent",
        "filled": ["vector.agent.ana.*", "vector.global.*"],
    }
    assert (shown["allow_write"]["value"], shown["allow_write"]["source"]) == (False, "task")
    assert (shown["min_score"]["value"], shown["min_score"]["source"]) == (None, "default")
    text = ebbtide("policy", "show", *place).out
    assert "vector.agent.ana.memory" in text
    assert ebbtide("policy", "delete", "--agent", "helper", "--json").json["deleted"] is True
    assert ebbtide("policy", "delete", "--agent", "helper", "--task", "briefing").out.startswith("deleted")
    gone = ebbtide("policy", "delete", "--agent", "helper", "--json")
    assert (gone.code, gone.json["error"]["code"]) == (1, "not_found")
    assert "owner, as here, may do everything" in ebbtide("policy", "show", "--agent", "helper").out


def test_a_policy_comes_from_a_file_from_standard_input_or_from_the_default(ebbtide: Run, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps({"read": ["vector.a"], "top_k": 9}), encoding="utf-8")
    ebbtide("policy", "set", file, "--top-k", 3)
    shown = ebbtide("policy", "show", "--json").json
    assert (shown["read"]["value"], shown["top_k"]["value"]) == (["vector.a"], 3)
    ebbtide("policy", "set", "-", stdin='{"read": ["vector.b"]}')
    assert ebbtide("policy", "show", "--json").json["read"]["value"] == ["vector.b"]
    ebbtide("policy", "set", "--default", "--forbid-tool-write")
    shown = ebbtide("policy", "show", "--json").json
    assert shown["write"]["value"] == "vector.agent.${user_id}.memory"
    assert shown["allow_tool_write"]["value"] is False


def test_what_is_no_policy_is_refused(ebbtide: Run) -> None:
    for arguments, stdin in ((["--top-k", 0], ""), (["--write", "vector.*"], ""), (["-"], "[1]"), (["-"], "{")):
        ran = ebbtide("policy", "set", *arguments, "--json", stdin=stdin)
        assert (ran.code, ran.json["error"]["code"]) == (2, "invalid_input")
    risky = ebbtide("policy", "set", "--relative-cutoff", 0.9)
    assert (risky.code, "risky" in risky.err) == (0, True)


def test_rules_are_added_listed_and_removed(ebbtide: Run) -> None:
    options = ["--bonus", 0.1, "--instruction", "Heed this.", "--default-kind", "howto", "--retention-days", 30]
    rule = ebbtide("rules", "add", "vector.*.howto", *options, "--personal-data", "redact", "--json").json
    assert (rule["pattern"], rule["bonus"], rule["personal_data"]) == ("vector.*.howto", 0.1, "redact")
    assert ebbtide("rules", "list", "--json").json == [rule]
    text = ebbtide("rules", "list").out
    assert "vector.*.howto" in text
    assert "instruction: Heed this." in text
    assert ebbtide("remember", "z", "--namespace", "vector.team.howto", "--json").json["memory"]["kind"] == "howto"
    assert ebbtide("rules", "remove", rule["id"]).out == f"removed  {rule['id']}\n"
    assert ebbtide("rules", "list", "--json").json == []
    again = ebbtide("rules", "remove", rule["id"], "--json")
    assert (again.code, again.json["error"]["code"]) == (1, "not_found")
    assert ebbtide("rules", "add", "vector.a*", "--json").json["error"]["field"] == "pattern"


def test_a_rule_is_previewed(ebbtide: Run) -> None:
    ebbtide("remember", "ferry to Bergen", "--namespace", "vector.a")
    ebbtide("remember", "ferry to Bergen at seven", "--namespace", "vector.b")
    asked = ["vector.b", "ferry to Bergen", "--bonus", 0.5, "--instruction", "Sail.", "--profile", "ontheia"]
    shown = ebbtide("rules", "preview", *asked, "--json").json
    assert [(hit["rank_before"], hit["rank_after"]) for hit in shown["hits"]] == [(2, 1), (1, 2)]
    text = ebbtide("rules", "preview", *asked).out
    assert "2 → 1" in text
    assert "under: Sail." in text
    assert "change nothing" in ebbtide("rules", "preview", "vector.c", "ferry", "--bonus", 0.5).out
    assert ebbtide("rules", "list", "--json").json == []


def test_what_is_done_with_personal_data_is_laid_down_for_a_tenant(ebbtide: Run) -> None:
    assert ebbtide("remember", "The ferry is late.").code == 0
    assert ebbtide("rules", "personal-data", "redact", "--json").json == {"personal_data": "redact"}
    told = ebbtide("remember", "Write to ana@example.com", "--json").json
    assert told["memory"]["content"] == "Write to [EMAIL]"
    assert ebbtide("rules", "personal-data", "none").out == "personal data  marked\n"
    assert ebbtide("remember", "Write to bob@example.com", "--json").json["memory"]["content"].endswith("example.com")
    refused = ebbtide("rules", "personal-data", "hide", "--json")
    assert (refused.code, refused.json["error"]["field"]) == (2, "personal_data")
