"""A chat model that answers a fixed task about some data with one JSON object; any server of OpenAI's wire form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from anyio import fail_after
from pydantic import BaseModel, ValidationError

from ebbtide.errors import InvalidInput, ModelInvalid, ModelUnavailable
from ebbtide.models.http import Connections, sendable_key
from ebbtide.models.vectors import encodable

__all__ = ["AsksChat", "ChatModel", "Task", "ask_until", "create_chat_model", "read_answer"]

MOST_TOKENS = 200
MOST_BYTES = 4_000_000
ATTEMPTS = 3
COMPLAINT = "That is not the JSON object asked for, or it was cut off. Answer again, with the JSON object alone."
LONGEST_REPEATED = 2_000
OK = 200
KEPT = frozenset({"type", "enum", "const", "$ref"})
# What a server answers that does not know how to hold its model to a schema, or not to this one.
REFUSALS = frozenset({400, 404, 415, 422, 501})
# What it answers to a request that it does not take, such as one that is too long for its model, while others may pass.
UNTAKEN = frozenset({400, 413, 422})
FENCE = re.compile(r"^\s*```(?:json)?\s*(.*?)\s*```\s*$", re.DOTALL)

Answer = TypeVar("Answer", bound=BaseModel)
Example = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Data with its answer, as they are shown to a model before it is asked: small ones learn the form by it alone."""


class Message(BaseModel, strict=True, hide_input_in_errors=True):
    """What the model said."""

    content: str


class Choice(BaseModel, strict=True, hide_input_in_errors=True):
    """One answer, of which only its message is read."""

    message: Message


class Completion(BaseModel, strict=True, hide_input_in_errors=True):
    """The part of a chat completion that is read; the rest is ignored."""

    choices: list[Choice]


class ChatModel:
    """A chat model behind an OpenAI-compatible endpoint, asked for one answer at a time.

    `url` is the server, its API (`https://api.openai.com/v1`) or the endpoint's whole path. `timeout_seconds` bounds a
    request from start to end; nothing is sent again. `role` is what errors call it, and `name` what is kept beside what
    it made.
    """

    def __init__(
        self, url: str, model: str, *, api_key: str | None = None, timeout_seconds: float = 10.0, role: str = "model"
    ) -> None:
        path = url.strip().rstrip("/")
        if not path.endswith("/chat/completions"):
            path += "/chat/completions" if re.search(r"/v\d+$", path) else "/v1/chat/completions"
        self.role = role
        self._endpoint = path
        self.name = f"model:{model}"
        self._model = model
        self._connections = Connections(sendable_key(api_key))
        self._timeout_seconds = timeout_seconds
        self._takes_schema = True

    async def ask(
        self,
        task: str,
        data: Mapping[str, str],
        *,
        schema: type[BaseModel] | None = None,
        example: Example | None = None,
        turns: Sequence[tuple[str, str]] = (),
        most_tokens: int = MOST_TOKENS,
        most_bytes: int = MOST_BYTES,
    ) -> bytes:
        """The body of the completion for a task, with the data as a JSON object of its own.

        The server is told the `schema` of the answer; one that refuses a request with it, and not without, is asked
        without from then on. `example` is other data with its answer, shown as if it had been asked before, and `turns`
        are what was said since, each with its role.

        Raises `ModelUnavailable` when the model does not answer, and `ModelInvalid` when the server does not take this
        request, or the body is longer than `most_bytes`.
        """
        shown = [] if example is None else [("user", _json(example[0])), ("assistant", _json(example[1]))]
        told = _json({name: encodable(value) for name, value in data.items()})
        messages = [("system", task), *shown, ("user", told), *turns]
        request: dict[str, object] = {
            "model": self._model,
            "temperature": 0,
            "max_tokens": most_tokens,
            "messages": [{"role": role, "content": content} for role, content in messages],
        }
        if schema is not None and self._takes_schema:
            form = {"name": schema.__name__.lower(), "strict": True, "schema": strict_schema(schema)}
            told_form = {"response_format": {"type": "json_schema", "json_schema": form}}
            status, body = await self._send({**request, **told_form}, most_bytes)
            if status not in REFUSALS:
                return self._checked(status, body)
        said = self._checked(*await self._send(request, most_bytes))
        # It was the schema that the server did not take, and not the data, only if it takes the same without.
        self._takes_schema = self._takes_schema and schema is None
        return said

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()

    def _checked(self, status: int, body: bytes) -> bytes:
        if status in UNTAKEN:
            raise ModelInvalid(f"The {self.role} does not take the request: it answers with status {status}.")
        if status != OK:
            raise ModelUnavailable(f"The {self.role} answers with status {status}.")
        return body

    async def _send(self, request: dict[str, object], most_bytes: int) -> tuple[int, bytes]:
        from httpx import HTTPError, InvalidURL

        body = bytearray()
        try:
            with fail_after(self._timeout_seconds):
                async with self._connections.client.stream("POST", self._endpoint, json=request) as response:
                    async for part in response.aiter_bytes():
                        body += part
                        if len(body) > most_bytes:
                            raise ModelInvalid(f"The {self.role}'s answer has more than {most_bytes:,} bytes.")
        except TimeoutError as exc:
            raise ModelUnavailable(f"The {self.role} gave no answer within {self._timeout_seconds:g} s.") from exc
        except (HTTPError, InvalidURL) as exc:
            raise ModelUnavailable(f"The {self.role} cannot be reached ({type(exc).__name__}).") from exc
        return response.status_code, bytes(body)


@dataclass(frozen=True, slots=True)
class Task:
    """What a model is told to do, the schema of its answer, an example, the bounds of an answer, and the complaint."""

    told: str
    schema: type[BaseModel]
    unusable: str
    example: Example | None = None
    most_tokens: int = MOST_TOKENS
    most_bytes: int = MOST_BYTES


class AsksChat:
    """Whoever asks a chat model for one thing."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """`model:` and the model's name."""
        return self._chat.name

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()


async def ask_until(chat: ChatModel, task: Task, data: Mapping[str, str], form: type[Answer]) -> Answer:
    """The answer of a model in its form; one that is not in it is sent back with what is wrong, at most twice.

    Raises `ModelUnavailable` when the model does not answer, and `ModelInvalid` when no answer is in the form.
    """
    turns: list[tuple[str, str]] = []
    failed: ModelInvalid | None = None
    for _ in range(ATTEMPTS):
        body = await chat.ask(
            task.told, data, schema=task.schema, example=task.example, turns=turns, most_tokens=task.most_tokens,
            most_bytes=task.most_bytes,
        )  # fmt: skip
        try:
            return read_answer(body, form, task.unusable)
        except ModelInvalid as error:
            failed = error
            turns = [("assistant", _repeated(body)), ("user", COMPLAINT)]
    raise failed or ModelInvalid(task.unusable)


def _repeated(body: bytes) -> str:
    """What the model said, as it is reminded of it."""
    try:
        return said_in(body)[:LONGEST_REPEATED] or "{}"
    except ValidationError:
        return "{}"


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_answer(body: bytes, form: type[Answer], complaint: str) -> Answer:
    """What the model said in the body of a completion, in its form; a fence around the JSON is taken off.

    Raises `ModelInvalid` with the complaint where the body is no completion, or the model said anything else.
    """
    try:
        said = said_in(body)
        fenced = FENCE.match(said)
        return form.model_validate_json(fenced[1] if fenced else said)
    except ValidationError:
        raise ModelInvalid(complaint) from None


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a form as servers take it: every field required, and nothing but types and choices.

    Limits on lengths and numbers are left out: many servers refuse them, and others are slowed down by them a lot. What
    is answered is checked in full anyway.
    """
    return _plain(form.model_json_schema())


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    given = cast("dict[str, Any]", schema)
    kept = {name: value for name, value in given.items() if name in KEPT}
    if "properties" in given:
        kept["properties"] = {name: _plain(one) for name, one in given["properties"].items()}
        kept["required"] = list(given["properties"])
        kept["additionalProperties"] = False
    for name in ("items", "anyOf"):
        if name in given:
            kept[name] = _plain(given[name])
    if "$defs" in given:
        kept["$defs"] = {name: _plain(one) for name, one in given["$defs"].items()}
    return kept


def said_in(body: bytes) -> str:
    """The model's words in the body of a completion. Raises `ValidationError` where it is none."""
    choices = Completion.model_validate_json(body).choices
    return choices[0].message.content if choices else ""


def create_chat_model(
    spec: str | None, setting: str, *, role: str, api_key: str | None, timeout_seconds: float
) -> ChatModel | None:
    """The chat model that a setting names, `https://server/v1#model`; None where it names none.

    Raises `InvalidInput` that names the setting where it means nothing.
    """
    if spec is None or not spec.strip():
        return None
    url, _, model = spec.strip().partition("#")
    if not url.startswith(("http://", "https://")) or not model:
        raise InvalidInput(
            f"The setting names no {role}.",
            field=setting,
            remedy="Give an endpoint with its model, such as http://localhost:11434#llama3.2.",
        )
    return ChatModel(url, model, api_key=api_key, timeout_seconds=timeout_seconds, role=role)
