"""A real embeddings server on this machine that follows a script, one step a request."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One step of the script: what the server answers, and how late."""

    body: bytes | None = None
    """None: the right answer to the request, in reversed index order."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0


@dataclass
class Endpoint:
    """The running server: its address, its script, and what it was asked. After the script it answers rightly."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)


def vector_of(text: str) -> list[float]:
    """What the server takes for the text's vector: of dimension 3, longer than 1, and different for each length."""
    return [3.0, float(len(text)), 1.0]


def answer(vectors: Sequence[object]) -> bytes:
    """An answer in OpenAI's form, its items in reversed order, so that only `index` tells which is which."""
    items = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return json.dumps({"object": "list", "data": items[::-1], "usage": {"total_tokens": 1}}).encode()


@contextmanager
def serve() -> Generator[Endpoint]:
    """Run a server on a free port for as long as the block lasts."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.requests.append(request)
            endpoint.paths.append(self.path)
            endpoint.authorizations.append(self.headers["Authorization"])
            reply = endpoint.script.pop(0) if endpoint.script else Reply()
            body = answer([vector_of(text) for text in request["input"]]) if reply.body is None else reply.body
            time.sleep(reply.delay_seconds)
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        endpoint.url = f"http://127.0.0.1:{server.server_port}"
        yield endpoint
        server.shutdown()
        thread.join()
