"""A chat model that answers a fixed task about some data with one JSON object; any server of OpenAI's wire form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TypeVar

from anyio import fail_after
from pydantic import BaseModel, ValidationError

from ebbtide.errors import InvalidInput, ModelInvalid, ModelUnavailable
from ebbtide.models.http import Connections, sendable_key
from ebbtide.models.vectors import encodable

__all__ = ["ChatModel", "create_chat_model", "read_answer"]

MOST_TOKENS = 200
FENCE = re.compile(r"^\s*```(?:json)?\s*(.*?)\s*```\s*$", re.DOTALL)

Answer = TypeVar("Answer", bound=BaseModel)


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
    """A chat model behind an OpenAI-compatible endpoint, asked once for each answer.

    `url` is the server, its API (`https://api.openai.com/v1`) or the endpoint's whole path. `timeout_seconds` bounds a
    request from start to end; nothing is sent again. `role` is what errors call it.
    """

    def __init__(
        self, url: str, model: str, *, api_key: str | None = None, timeout_seconds: float = 10.0, role: str = "model"
    ) -> None:
        path = url.strip().rstrip("/")
        if not path.endswith("/chat/completions"):
            path += "/chat/completions" if re.search(r"/v\d+$", path) else "/v1/chat/completions"
        self.role = role
        self._endpoint = path
        self._model = model
        self._connections = Connections(sendable_key(api_key))
        self._timeout_seconds = timeout_seconds

    async def ask(self, task: str, data: Mapping[str, str]) -> bytes:
        """The body of the completion for a task, with the data as a JSON object of its own.

        Raises `ModelUnavailable` when the model does not answer.
        """
        told = json.dumps({name: encodable(value) for name, value in data.items()}, ensure_ascii=False)
        return await self._post(
            {
                "model": self._model,
                "temperature": 0,
                "max_tokens": MOST_TOKENS,
                "messages": [{"role": "system", "content": task}, {"role": "user", "content": told}],
            }
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()

    async def _post(self, request: dict[str, object]) -> bytes:
        from httpx import HTTPError, InvalidURL

        try:
            with fail_after(self._timeout_seconds):
                response = await self._connections.client.post(self._endpoint, json=request)
        except TimeoutError as exc:
            raise ModelUnavailable(f"The {self.role} gave no answer within {self._timeout_seconds:g} s.") from exc
        except (HTTPError, InvalidURL) as exc:
            raise ModelUnavailable(f"The {self.role} cannot be reached ({type(exc).__name__}).") from exc
        if response.status_code != 200:
            raise ModelUnavailable(f"The {self.role} answers with status {response.status_code}.")
        return response.content


def read_answer(body: bytes, form: type[Answer], complaint: str) -> Answer:
    """What the model said in the body of a completion, in its form; a fence around the JSON is taken off.

    Raises `ModelInvalid` with the complaint where the body is no completion, or the model said anything else.
    """
    try:
        choices = Completion.model_validate_json(body).choices
        said = choices[0].message.content if choices else ""
        fenced = FENCE.match(said)
        return form.model_validate_json(fenced[1] if fenced else said)
    except ValidationError as exc:
        raise ModelInvalid(complaint) from exc


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
