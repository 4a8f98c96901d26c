"""What newcomers and tools see of the verbs: signatures, annotations, help, and what an error says."""

from __future__ import annotations

import inspect
import pydoc
import signal
import threading
import time
import typing
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from ebbtide import AsyncEbbtide, Ebbtide, blocking
from ebbtide.blocking import BlockingGroup
from ebbtide.errors import InvalidInput
from ebbtide.groups.base import Group
from ebbtide.models.fake import FakeEmbedder
from tests.conftest import Opener
from tests.stores import DIMENSION

BLOCKING = [Ebbtide, *BlockingGroup.__subclasses__()]
ASYNCHRONOUS = [AsyncEbbtide, *Group.__subclasses__()]


def verbs(kinds: list[type]) -> Iterator[object]:
    for kind in kinds:
        for name in dir(kind):
            if not name.startswith("_") and inspect.isroutine(found := getattr(kind, name)):
                yield pytest.param(kind, found, id=f"{kind.__name__}.{name}")


@pytest.mark.parametrize(("kind", "verb"), list(verbs(BLOCKING)))
def test_a_blocking_verb_is_a_plain_documented_function(kind: type, verb: Callable[..., Any]) -> None:
    assert not inspect.iscoroutinefunction(verb)
    assert not inspect.iscoroutinefunction(inspect.unwrap(verb))
    assert inspect.getdoc(verb)
    assert verb.__qualname__.rpartition(".")[2] == verb.__name__
    shown = pydoc.plain(pydoc.render_doc(verb))
    assert "async " not in shown
    assert f"{verb.__name__}{inspect.signature(verb)}" in shown
    twin = getattr(blocking, f"Async{kind.__name__}", None)
    method = getattr(twin, verb.__name__, None)
    if inspect.iscoroutinefunction(method) and verb.__name__ != "close":
        assert inspect.signature(verb) == inspect.signature(method)
        assert typing.get_type_hints(verb) == typing.get_type_hints(method)
        assert inspect.getdoc(verb) == inspect.getdoc(method)
        assert verb.__qualname__ == f"{kind.__name__}.{verb.__name__}"


@pytest.mark.parametrize(("kind", "verb"), [*verbs(BLOCKING), *verbs(ASYNCHRONOUS)])
def test_the_annotations_of_a_verb_can_be_read(kind: type, verb: Callable[..., Any]) -> None:
    if verb.__name__ in {"engine", "flushed"}:
        return
    hints = typing.get_type_hints(verb)
    assert "return" in hints
    for name, parameter in inspect.signature(verb).parameters.items():
        assert name in {"self", *hints}, f"{kind.__name__}.{name} {parameter}"


def test_help_on_a_class_shows_no_verb_as_a_coroutine() -> None:
    for kind in BLOCKING:
        assert "async " not in pydoc.plain(pydoc.render_doc(kind)), kind
    assert "async recall(" in pydoc.plain(pydoc.render_doc(AsyncEbbtide))


@pytest.mark.parametrize(
    "call",
    [
        lambda: Ebbtide("./fresh"),  # type: ignore[arg-type]
        lambda: Ebbtide(),
        lambda: Ebbtide("./fresh", user="ana"),  # type: ignore[arg-type]
        lambda: AsyncEbbtide("./fresh"),  # type: ignore[arg-type]
        lambda: AsyncEbbtide(tenant="x"),
    ],
)
def test_a_handle_that_is_not_opened_names_open(call: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput, match=r"Ebbtide\.open\(\"\./memory\"\)") as caught:
        call()
    assert caught.value.field == "location"


def test_an_argument_that_a_verb_does_not_have_is_told_with_the_one_meant(memory: Any) -> None:
    class Mine(Ebbtide):
        """A class of the caller's own."""

    mine: Any = Mine(memory.inner, memory._loop)
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: memory.recall("x", kind="fact"), "Ebbtide.recall() got an unexpected keyword argument 'kind'. "
         "Did you mean kinds?"),
        (lambda: memory.recall("x", namespace="a"), "Ebbtide.recall() got an unexpected keyword argument 'namespace'. "
         "Did you mean namespaces?"),
        (lambda: memory.remember("x", valid_until="2027-01-01"), "Ebbtide.remember() got an unexpected keyword "
         "argument 'valid_until'. Did you mean expires_at?"),
        (lambda: memory.forget_where(filter={"a": 1}), "Ebbtide.forget_where() got an unexpected keyword argument "
         "'filter'. Did you mean where?"),
        (lambda: memory.recall("x", zzz=1), "Ebbtide.recall() got an unexpected keyword argument 'zzz'."),
        (lambda: memory.forget("x"), "Ebbtide.forget() missing 1 required positional argument: 'expected_revision'"),
        (lambda: memory.episodes.fork(brunch="x"), "Episodes.fork() got an unexpected keyword argument 'brunch'. "
         "Did you mean branch?"),
        (lambda: mine.forget(), "Mine.forget() missing 2 required positional arguments: 'memory_id' and "
         "'expected_revision'"),
    ]  # fmt: skip
    for call, message in calls:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == message


async def test_the_asynchronous_face_tells_it_too(async_memory: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^AsyncEbbtide\.forget\(\) got .* 'revision'\. Did you mean expected_revision\?$"
    ):
        await async_memory.forget("x", revision=1)
    with pytest.raises(TypeError, match=r"^AsyncEpisodes\.chats\(\) got .* 'limits'\. Did you mean limit\?$"):
        await async_memory.episodes.chats(limits=1)


def test_an_argument_among_others_is_told_with_the_one_meant(memory: Any) -> None:
    with pytest.raises(InvalidInput, match=r"There is no argument 'kind'\. Did you mean kinds\? Use ") as caught:
        memory.context("x", kind="fact")
    assert caught.value.field == "kind"


def test_a_type_error_of_the_engine_stays_what_it_is(memory: Ebbtide, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise TypeError("browse() is broken")

    monkeypatch.setattr("ebbtide.paths.manage.browse", broken)
    with pytest.raises(TypeError, match=r"^browse\(\) is broken$"):
        memory.browse()


class Slow(FakeEmbedder):
    """A model that takes its time, and says whether it came to its end."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self.begun = threading.Event()
        self.cancelled = threading.Event()

    async def embed(self, texts: Any) -> Any:
        self.begun.set()
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            self.cancelled.set()
            raise
        return await super().embed(texts)


def test_an_interrupted_call_is_cancelled(open_store: Opener) -> None:
    model = Slow()
    memory = open_store(embedder=model)

    def interrupt() -> None:
        model.begun.wait(30)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        memory.remember_many(["The ferry leaves at seven", "Ana likes oranges"])
    assert model.cancelled.wait(10)
    assert memory.browse() == []
    memory.close()
    assert time.monotonic() - began < 30


def test_what_comes_back_prints_in_lines(memory: Ebbtide) -> None:
    text = "The ferry\nleaves  at seven " + "and carries bicycles " * 20
    memory.remember(text, entities=[{"name": "Bergen", "type": "PLACE"}])
    memory.remember("A ferry is blue")
    answer = memory.recall("ferry blue")
    assert str(answer) == "\n".join(str(hit) for hit in answer)
    lines = {line.partition(" ")[2]: line.partition(" ")[0] for line in str(answer).splitlines()}
    beginning = "The ferry leaves at seven and carries bicycles and carries bicycles and carries…"
    assert set(lines) == {"A ferry is blue", beginning}
    assert lines["A ferry is blue"] == f"{answer[0].relevance:.2f}"
    assert len(beginning) == 80
    assert {str(hit.memory) for hit in answer} == set(lines)
    assert str(memory.entities.list()[0]) == "Bergen (PLACE), 1 facts"
    assert str(memory.scoped(tenant="empty").recall("ferry")) == "nothing"
    assert repr(answer).startswith("Recall(hits=(Hit(id=")
