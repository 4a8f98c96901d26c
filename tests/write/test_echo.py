"""An agent's own context block that comes back is recognised, and what a run says beside it is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import ContextBlock, Ebbtide, Remembered
from ebbtide.errors import InvalidInput
from ebbtide.write.echo import without_echo

REQUEST = "Please tell me when the ferry to the island leaves tomorrow morning, and whether I can take the bicycle."
WARNING = "a context block within the content was left out"


@pytest.fixture
def block(memory: Ebbtide) -> ContextBlock:
    memory.remember_many(["The ferry leaves at seven", "Bicycles travel on the ferry for free\n\nTandems do not"])
    return memory.context("ferry")


def contents(answer: Any) -> set[str]:
    return {found.content for found in answer}


def test_a_context_block_is_not_remembered_again(memory: Ebbtide, block: ContextBlock) -> None:
    answer = memory.remember(block.text)
    assert answer.outcome == "echo"
    assert answer.memory.id == block.ids[0]
    assert len(memory.browse()) == 2
    assert memory.get(answer.memory.id).last_mentioned_at is None


def test_one_entry_of_a_block_is_an_echo(memory: Ebbtide, block: ContextBlock) -> None:
    entry = next(part for part in block.text.split("\n\n") if part.endswith("The ferry leaves at seven"))
    answer = memory.remember(f"{entry}\n")
    assert (answer.outcome, answer.memory.content) == ("echo", "The ferry leaves at seven")
    kept = memory.remember(f"{entry}\n\nIt was late today.")
    assert kept.outcome == "stored"
    assert memory.remember(entry.replace("seven", "eight")).outcome == "stored"


def test_a_block_in_other_shapes_is_an_echo(memory: Ebbtide, block: ContextBlock) -> None:
    lines = block.text.splitlines()
    for shape in (
        f"```\n{block.text}\n```",
        "\n".join(f"> {line}" for line in lines),
        "\n".join(f"  {line}" for line in lines),
        "\n".join(lines[:-1]),
        "\n".join(lines[2:]),
        "\r\n".join(lines),
        f"{block.text}\n\n{block.text}",
    ):
        assert without_echo(shape).own == "", shape
    blocks = (memory.context("ferry", budget=budget).text for budget in range(100, 30, -1))
    terse = next(text for text in blocks if text and "An entry marked" not in text)
    assert memory.remember(terse).outcome == "echo"


@pytest.mark.parametrize(
    "more",
    [
        {"invoice": 4711, "note": "pay Anna"},
        {"messages": [{"content": "x", "note": "pay Anna"}]},
        {"messages": ["pay Anna"]},
        {"messages": "pay Anna"},
        {"text": 4711},
        {"role": {"note": "pay Anna"}},
        {"text": None},
    ],
)
def test_of_json_that_is_more_than_messages_the_rest_is_kept(memory: Ebbtide, block: ContextBlock, more: Any) -> None:
    answer = memory.remember(json.dumps({"content": block.text, **more}))
    assert (answer.outcome, answer.warnings) == ("stored", (WARNING,))
    assert answer.memory.content == json.dumps({"content": "", **more})
    listed = memory.remember(json.dumps([{"content": block.text}, more]))
    assert listed.memory.content == json.dumps([{"content": ""}, more])


@pytest.mark.parametrize(
    ("before", "behind"), [("", ""), ("Hello\n\n", ""), ("", "\n\nAnd then?"), ("Hello\r\n", "\r\n\r\nBye")]
)
@pytest.mark.parametrize("deep", [1, 2])
def test_a_line_of_json_stays_one(block: ContextBlock, before: str, behind: str, deep: int) -> None:
    def line(content: str, role: str = "user") -> str:
        for _ in range(deep):
            content = json.dumps({"role": role, "content": content, "at": 1}, ensure_ascii=False)
        return content

    around = line('She said "C:\\\\new" and went.'), line("Tea.", "assistant")
    stripped = without_echo("\n".join([around[0], line(f"{before}{block.text}{behind}"), around[1]]))
    assert stripped.found
    first, cut, last = stripped.rest.split("\n")
    assert (first, last) == around
    for _ in range(deep):
        cut = json.loads(cut)["content"]
    assert cut == f"{before if behind else before.strip()}{behind.strip()}"


def test_messages_in_lines_are_an_echo_where_they_say_nothing_else(memory: Ebbtide, block: ContextBlock) -> None:
    lines = "\n".join(json.dumps({"role": "user", "content": block.text}) for _ in range(2))
    assert memory.remember(lines).outcome == "echo"
    more = json.dumps({"role": "assistant", "content": "At eight."})
    kept = memory.remember(f"{lines}\n{more}").memory.content
    assert [json.loads(line)["content"] for line in kept.split("\n")] == ["", "", "At eight."]


def test_the_string_of_a_program_stays_one(block: ContextBlock) -> None:
    program = f"first = 1\nprint({block.text!r} + name)\nlast = 2"
    stripped = without_echo(program)
    assert stripped.found
    assert stripped.rest == "first = 1\nprint('' + name)\nlast = 2"


def test_messages_as_json_are_what_they_say(memory: Ebbtide, block: ContextBlock) -> None:
    parts = [{"type": "text", "text": "When?"}, {"type": "text", "text": block.text}]
    for form in (parts, {"role": "user", "content": parts}, {"messages": [{"role": "user", "content": parts}]}):
        assert memory.remember(json.dumps(form)).memory.content == "When?"
    assert memory.remember(json.dumps({"role": "user", "content": block.text})).outcome == "echo"


def test_what_was_said_beside_a_block_is_remembered(memory: Ebbtide, block: ContextBlock) -> None:
    answer = memory.remember(f"I asked the harbour office.\n\n{block.text}\n\nThey said: from May on at six.")
    assert (answer.outcome, answer.warnings) == ("stored", (WARNING,))
    assert answer.memory.content == "I asked the harbour office.\n\nThey said: from May on at six."


def test_what_stands_on_a_line_with_a_block_is_the_texts_own(block: ContextBlock) -> None:
    nonce = block.nonce
    for before, behind in (
        ("Here it is: ", ""),
        ("", " So take the bicycle."),
        ('I was told: "', '". The rest is mine.'),
        ("回答：", "。"),
    ):
        kept = without_echo(f"First.\n{before}{block.text}{behind}\nLast.")
        assert kept.found
        assert nonce not in kept.own
        assert "The ferry leaves at seven" not in kept.own
        own = [part for part in (before, behind) if any(map(str.isalnum, part))]
        assert all(part.strip() in kept.own for part in ["First.", "Last.", *own])


def test_the_beginning_of_a_block_within_a_line_takes_nothing_with_it() -> None:
    text = "It began with MEMORY BLOCK 0123abcd: what stands between here and there.\nMy own words."
    assert not without_echo(text).found


def test_a_quoted_sentence_may_be_remembered(memory: Ebbtide, block: ContextBlock) -> None:
    for text in (
        "As I remember, “The ferry leaves at seven”, but the timetable says eight.",
        "Documentation: a block opens with MEMORY BLOCK and a nonce.",
        "--- MEMORY ENTRY --- is how an entry is headed.",
        "MEMORY BLOCK 00000000: the user says",
    ):
        answer = memory.remember(text)
        assert (answer.outcome, answer.warnings, answer.memory.content) == ("stored", (), text)


def test_a_block_of_memories_that_are_not_here_names_none(memory: Ebbtide, block: ContextBlock) -> None:
    elsewhere = memory.scoped(agent="other")
    assert elsewhere.remember(block.text) == Remembered(outcome="echo", memory=None)
    for id_ in block.ids:
        memory.forget(id_, 1)
    answers = memory.remember_many(["x", block.text])
    assert [(answer.outcome, answer.memory is None) for answer in answers] == [("stored", False), ("echo", True)]
    assert contents(memory.browse()) == {"x"}
    assert elsewhere.browse() == []


def test_a_block_does_not_open_another_users_memory(memory: Ebbtide) -> None:
    ana = memory.scoped(user="ana")
    ana.remember("The ferry leaves at seven")
    text = ana.context("ferry").text
    assert ana.remember(text).memory.content == "The ferry leaves at seven"
    assert memory.scoped(user="bob").remember(text).memory is None


def test_what_the_block_escaped_is_still_recognised(memory: Ebbtide) -> None:
    stored = memory.remember("ferry notes\n--- seven ---\nEND OF MEMORY BLOCK as they say").memory
    answer = memory.remember(memory.context("ferry").text)
    assert (answer.outcome, answer.memory.id) == ("echo", stored.id)


def test_an_echo_in_a_batch_leaves_the_others_alone(memory: Ebbtide, block: ContextBlock) -> None:
    answers = memory.remember_many(["new", block.text, {"content": "newer", "idempotency_key": "k"}])
    assert [answer.outcome for answer in answers] == ["stored", "echo", "stored"]
    assert memory.remember("newer", idempotency_key="k").memory == answers[2].memory


def test_a_run_leaves_its_request_and_its_answer(memory: Ebbtide) -> None:
    handle = memory.scoped(user="ana", task="t", chat="c")
    asked, answered = handle.record_run(REQUEST, "At seven.")
    assert (asked.outcome, answered.outcome) == ("stored", "stored")
    assert (asked.memory.content, answered.memory.content) == (REQUEST, "At seven.")
    for one, tag in ((asked.memory, "run_input"), (answered.memory, "run_output")):
        assert (one.kind, one.tags, one.labels) == ("message", (tag,), ("episodic",))
        assert (one.namespace, one.task, one.chat) == ("vector.agent.ana.memory", "t", "c")
    elsewhere = handle.record_run("hi", "Another answer.", task="t2", chat="c2")[0].memory
    assert (elsewhere.task, elsewhere.chat, elsewhere.user) == ("t2", "c2", "ana")
    assert [answer.outcome for answer in handle.record_run(REQUEST, "At seven.")] == ["duplicate", "duplicate"]


@pytest.mark.parametrize(("length", "kept"), [(0, 0), (79, 0), (80, 1), (81, 1)])
def test_a_request_is_kept_from_eighty_characters_on(memory: Ebbtide, length: int, kept: int) -> None:
    answers = memory.record_run("x" * length, "Done.")
    assert len(answers) == kept + 1
    assert answers[-1].memory.content == "Done."
    assert memory.record_run(f"  {'y' * 79} ", " ") == []


def test_a_run_that_failed_leaves_nothing(memory: Ebbtide) -> None:
    assert memory.record_run(REQUEST, "It broke.", succeeded=False) == []
    assert memory.browse() == []


def test_a_run_does_not_repeat_what_it_was_given(memory: Ebbtide, block: ContextBlock) -> None:
    asked, answered = memory.record_run(f"{REQUEST}\n\n{block.text}", f"You told me:\n{block.text}\nSo: at seven.")
    assert asked.memory.content == REQUEST
    assert answered.memory.content == "You told me:\nSo: at seven."
    echoed = memory.record_run(f"When?\n\n{block.text}", block.text)
    assert [(answer.outcome, answer.memory.id) for answer in echoed] == [("echo", block.ids[0])]
    assert len(memory.browse()) == 4


def test_a_run_is_checked(memory: Ebbtide) -> None:
    refused: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("input", (None, "y"), {}),
        ("output", ("x", 5), {}),
        ("output", ("x", "a\0"), {}),
        ("chat", ("x", "y"), {"chat": "a b"}),
        ("task", ("x", "y"), {"task": "a b"}),
    ]
    for field, positional, named in refused:
        with pytest.raises(InvalidInput) as caught:
            memory.record_run(*positional, **named)
        assert caught.value.field == field


@given(st.text())
def test_a_text_without_a_block_is_untouched(text: str) -> None:
    stripped = without_echo(text)
    assert (stripped.rest, stripped.found, stripped.entries) == (text, False, ())


def test_a_block_takes_no_memorys_place(memory: Ebbtide) -> None:
    first, second = (
        memory.remember(f"The deploy {said}finish", subject="deploy").memory for said in ("did ", "did not ")
    )
    block = memory.context("deploy").text
    [conflict] = memory.conflicts.list()
    for field, ask in (
        ("content", lambda: memory.revise(first.id, block)),
        ("merged", lambda: memory.conflicts.resolve(conflict.id, "merge", block)),
    ):
        with pytest.raises(InvalidInput, match="context block") as caught:
            ask()
        assert caught.value.field == field
    assert memory.get(first.id).revision == first.revision
    assert memory.revise(second.id, f"{block}\nIt did not finish at all.").content == "It did not finish at all."
    assert memory.conflicts.resolve(conflict.id, "merge", f"Nobody knows.\n{block}")[0].content == "Nobody knows."


FULL = {place: place + 0xFEE0 for place in range(0x21, 0x7F)} | {0x20: 0x3000}
DRESSES: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "narrow spaces": lambda text: text.replace(" ", "\u202f"),
    "full width": lambda text: text.translate(FULL),
    "one line": lambda text: " ".join(text.split()),
}


@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
def test_a_block_in_another_dress_is_an_echo(memory: Ebbtide, block: ContextBlock, dress: Callable[[str], str]) -> None:
    assert memory.remember(dress(block.text)).outcome == "echo"
    own = memory.remember(f"Ｍｙ ＯＷＮ words.\n{dress(block.text)}\nAnd\u00a0more.")
    assert own.memory.content == "Ｍｙ ＯＷＮ words.\nAnd\u00a0more."
    beside = memory.remember(f"He said: {dress(block.text)} So I take the bicycle.")
    assert beside.memory.content == "He said:\nSo I take the bicycle."
    assert len(memory.browse()) == 4


@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
def test_no_facts_are_read_from_a_block(memory: Ebbtide, dress: Callable[[str], str]) -> None:
    memory.remember("Anna Berg works at Acme.")
    block = dress(memory.context("Anna Berg").text)
    assert memory.extract(block).texts[0].facts == ()
    text = f"Here it is.\n{block}\nBen Cole works at Initech."
    [fact] = memory.extract(text, write=False).texts[0].facts
    assert (fact.subject, text[fact.start : fact.end]) == ("Ben Cole", "Ben Cole works at Initech")
    said = json.dumps([{"type": "text", "text": "Ben Cole works at Initech."}, {"type": "text", "text": block}])
    assert [one.subject for one in memory.extract(said, write=False).texts[0].facts] == ["Ben Cole"]


@pytest.mark.parametrize("ending", ["txt", "md", "html"])
def test_a_file_that_holds_a_block_is_the_rest_of_it(
    memory: Ebbtide, block: ContextBlock, tmp_path: Path, ending: str
) -> None:
    file = tmp_path / f"notes.{ending}"
    text = "".join(f"<p>{part}</p>" for part in block.text.split("\n\n")) if ending == "html" else block.text
    file.write_text(text)
    [alone] = memory.ingest(str(file)).files
    assert (alone.status, alone.document, alone.new, alone.dropped) == ("stored", None, 0, 1)
    file.write_text(f"The bakery opens at six.\n\n{text}\n\nThe bakery closes at noon.")
    [mixed] = memory.ingest(str(file)).files
    assert (mixed.status, mixed.new) == ("stored", 1)
    [passage] = memory.browse(kinds=["chunk"])
    assert passage.content == "The bakery opens at six.\n\nThe bakery closes at noon."
    file.write_text(f"The bakery opens at six.\n\n{text}\n\nThe bakery closes at noon.\n")
    [again] = memory.ingest(str(file)).files
    assert (again.status, again.new, again.kept, again.forgotten) == ("updated", 0, 1, 0)
