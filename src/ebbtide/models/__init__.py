"""Embedding models: the local default, any OpenAI-compatible endpoint, and a fake for tests."""

from __future__ import annotations

from ebbtide.errors import InvalidInput
from ebbtide.models.fake import LEAST_DIMENSION, FakeEmbedder
from ebbtide.models.http import HttpEmbedder
from ebbtide.models.local import LocalEmbedder
from ebbtide.models.protocols import Embedder, ModelIdentity

__all__ = ["Embedder", "FakeEmbedder", "HttpEmbedder", "LocalEmbedder", "ModelIdentity", "create_embedder"]

ALLOWED = "Give `local`, `none`, `fake`, `fake:DIMENSION` (16 or more), or an endpoint with its model: `http://localhost:11434/v1#all-minilm`."


def create_embedder(
    spec: str | None = None, *, api_key: str | None = None, threads: int = 1, timeout_seconds: float = 30.0
) -> Embedder | None:
    """The embedder that a setting names, or None where the setting is `none` and full text works alone.

    `spec` is `local` (the default), `none`, `fake`, `fake:384`, or an endpoint with its model, `https://server/v1#model`.
    `api_key` and `timeout_seconds` are for an endpoint, `threads` for the local model. Nothing is loaded or asked yet.
    Raises `InvalidInput` that names `embedder` where the setting means nothing, or the argument that cannot be used.
    """
    spec = (spec or "local").strip()
    if spec == "local":
        return LocalEmbedder(threads=threads)
    if spec == "none":
        return None
    if spec == "fake":
        return FakeEmbedder()
    kind, _, rest = spec.partition(":")
    url, _, model = spec.partition("#")
    if kind == "fake" and rest.isdecimal() and int(rest) >= LEAST_DIMENSION:
        return FakeEmbedder(int(rest))
    if kind in ("http", "https") and model:
        return HttpEmbedder(url, model, api_key=api_key, timeout_seconds=timeout_seconds)
    raise InvalidInput("The setting names no embedder.", field="embedder", remedy=ALLOWED)
