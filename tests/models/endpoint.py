"""A real model server on this machine, for embeddings and reranking, that follows a script, one step a request."""

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


def rerank_answer(scores: Sequence[object]) -> bytes:
    """An answer in Cohere's v2 form, the best first, so that only `index` tells which is which."""
    results = [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]
    results.sort(key=lambda result: -float(str(result["relevance_score"])))
    return json.dumps({"id": "0", "results": results, "meta": {"billed_units": {"search_units": 1}}}).encode()


def overlap(query: str, document: str) -> float:
    """What the server takes for the relevance: the share of the query's words that the document holds."""
    words = set(query.lower().split())
    return len(words & set(document.lower().split())) / max(len(words), 1)


def right_answer(request: Mapping[str, Any]) -> bytes:
    """What a sound server answers to the request."""
    if "documents" in request:
        return rerank_answer([overlap(request["query"], document) for document in request["documents"]])
    return answer([vector_of(text) for text in request["input"]])


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
            body = right_answer(request) if reply.body is None else reply.body
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
