"""supersede, invalidate, restore, confirm, importance, feedback and record-run, as JSON and for people."""

from __future__ import annotations

from pathlib import Path

from ebbtide.cli.lifecycle import supersede
from ebbtide.cli.memories import remember
from tests.cli.conftest import Run


def remembered(ebbtide: Run, content: str = "The channel is 72.") -> str:
    return ebbtide("remember", content, "--json").json["memory"]["id"]


def test_a_memory_is_superseded(ebbtide: Run) -> None:
    id_ = remembered(ebbtide)
    ran = ebbtide("supersede", id_, "The channel is 77.", "--tag", "radio", "--importance", 0.8, "--json")
    assert (ran.code, ran.json["outcome"]) == (0, "superseded")
    assert (ran.json["memory"]["tags"], ran.json["memory"]["importance"]) == (["radio"], 0.8)
    assert ebbtide("get", id_, "--json").json["superseded_by"] == ran.json["memory"]["id"]
    shown = ebbtide("supersede", id_, stdin="The channel is 16.\n").out
    assert shown.startswith("superseded  ")
    assert shown.endswith("The channel is 16.\n")


def test_supersede_takes_what_remember_takes() -> None:
    names = {option.name for option in remember.params} - {"file", "supersedes"}
    assert {option.name for option in supersede.params} == names | {"old_id"}


def test_a_memory_through_doubt_and_trust(ebbtide: Run) -> None:
    id_ = remembered(ebbtide)
    states = [
        ebbtide(*command, "--json").json
        for command in (
            ("confirm", id_, "--expected-revision", 1),
            ("invalidate", id_),
            ("restore", id_, "--expected-revision", 3),
            ("importance", id_, 0.9),
            ("invalidate", id_, "--at", "2020-01-01"),
        )
    ]
    assert [state["maturity"] for state in states] == [
        "confirmed", "invalidated", "unconfirmed", "unconfirmed", "unconfirmed",
    ]  # fmt: skip
    assert [state["revision"] for state in states] == [2, 3, 4, 5, 6]
    assert (states[-1]["importance"], states[-1]["invalidated_at"]) == (0.9, "2020-01-01T00:00:00Z")
    assert ebbtide("browse", "--json").json["items"] == []


def test_a_memory_is_judged(ebbtide: Run) -> None:
    id_ = remembered(ebbtide)
    assert ebbtide("feedback", id_, "positive", "--json").json["usefulness"] == 2 / 3
    assert ebbtide("feedback", id_, "neutral").out.startswith(f"usefulness 0.667  {id_}")
    refused = ebbtide("feedback", id_, "good", "--json")
    assert (refused.code, refused.json["error"]["field"]) == (2, "rating")


def test_people_read_one_line(ebbtide: Run) -> None:
    id_ = remembered(ebbtide)
    assert ebbtide("confirm", id_).out == f"confirmed  {id_}  revision 2  The channel is 72.\n"
    assert ebbtide("importance", id_, 1).out == f"importance 1  {id_}  revision 3  The channel is 72.\n"
    assert ebbtide("invalidate", id_).out == f"invalidated  {id_}  revision 4  The channel is 72.\n"
    assert ebbtide("restore", id_).out == f"unconfirmed  {id_}  revision 5  The channel is 72.\n"


def test_what_cannot_be_done_is_an_error(ebbtide: Run) -> None:
    id_ = remembered(ebbtide)
    ebbtide("supersede", id_, "The channel is 77.")
    ran = ebbtide("restore", id_, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "conflict")
    stale = ebbtide("confirm", id_, "--expected-revision", 1, "--json")
    assert (stale.code, stale.json["error"]["code"]) == (1, "stale_revision")
    assert ebbtide("importance", id_, "much", "--json").code == 2
    assert ebbtide("invalidate", "nonsense", "--json").json["error"]["field"] == "memory_id"


def test_a_run_is_recorded(ebbtide: Run) -> None:
    request = "Which channel do the boats of the harbour listen to at night, and is anybody there to answer?"
    ran = ebbtide("record-run", request, "Channel 77, all night.", "--chat", "c", "--json")
    assert [one["outcome"] for one in ran.json] == ["stored", "stored"]
    assert {one["memory"]["chat"] for one in ran.json} == {"c"}
    assert len(ebbtide("record-run", "And now?", "-", "--json", stdin="Channel 16.\n").json) == 1
    assert ebbtide("record-run", request, "It broke.", "--failed", "--json").json == []
    assert "the run failed" in ebbtide("record-run", request, "It broke.", "--failed").err
    assert "shorter than 80 characters" in ebbtide("record-run", "hello", "").err
    assert ebbtide("record-run", request, "Another.").out.count("\n") == 2


def test_late_work_of_a_session_is_refused(ebbtide: Run) -> None:
    of_session = ("--session", "s", "--json")
    told = ebbtide("remember", "The safe opens with 4471.", *of_session).json["memory"]
    captured = ebbtide("session-revision", *of_session).json
    assert captured == {"session": "s", "revision": 1}
    assert ebbtide("remember", "A code was told.", "--session-revision", 1, *of_session).code == 0
    ebbtide("forget", told["id"], "--expected-revision", 1, *of_session)
    assert ebbtide("session-revision", "--session", "s").out == "s  revision 2\n"
    for late in (
        ("remember", "A safe was named."),
        ("supersede", told["id"], "A safe was named."),
        ("revise", told["id"], "A safe was named."),
        ("record-run", "Which safe?", "The small one."),
    ):
        refused = ebbtide(*late, "--session-revision", 1, *of_session)
        assert (refused.code, refused.json["error"]["code"]) in ((1, "stale_revision"), (1, "not_found")), late
    assert ebbtide("session-revision", "--json").json["error"]["field"] == "session"


def test_a_file_of_late_drafts_is_refused(ebbtide: Run, tmp_path: Path) -> None:
    file = tmp_path / "drafts.jsonl"
    file.write_text('{"content": "One."}\n{"content": "Two."}\n')
    refused = ebbtide("remember", "--file", file, "--session", "s", "--session-revision", 3, "--json")
    assert refused.json["error"]["field"] == "session_revision"
    assert len(ebbtide("remember", "--file", file, "--session", "s", "--session-revision", 1, "--json").json) == 2
