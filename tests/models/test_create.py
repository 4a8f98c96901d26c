"""The setting that names an embedder."""

from __future__ import annotations

import pytest

from ebbtide.errors import InvalidInput
from ebbtide.models import FakeEmbedder, HttpEmbedder, LocalEmbedder, ModelIdentity, create_embedder
from tests.models.endpoint import serve


@pytest.mark.parametrize("spec", [None, "", "local", " local "])
def test_the_local_model_is_the_default(spec: str | None) -> None:
    assert isinstance(create_embedder(spec), LocalEmbedder)


def test_none_is_no_embedder() -> None:
    assert create_embedder("none") is None


@pytest.mark.parametrize(("spec", "dimension"), [("fake", 384), ("fake:64", 64)])
def test_the_fake_may_name_its_dimension(spec: str, dimension: int) -> None:
    embedder = create_embedder(spec)
    assert isinstance(embedder, FakeEmbedder)
    assert embedder.identity == ModelIdentity("fake", dimension)


async def test_an_endpoint_names_its_model_and_gets_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as endpoint:
        embedder = create_embedder(f"{endpoint.url}/v1#BAAI/bge-m3:latest", api_key="some-key")
        assert isinstance(embedder, HttpEmbedder)
        assert await embedder.probe() == ModelIdentity("BAAI/bge-m3:latest", 3)
        await embedder.close()
    assert endpoint.authorizations == ["Bearer some-key"]


@pytest.mark.parametrize(
    "spec", ["cloud", "Local", "fake:", "fake:x", "fake:-64", "fake:8", "fake:²", "http://host", "https://me:pw@host#"]
)
def test_a_setting_that_names_nothing_says_what_is_allowed(spec: str) -> None:
    with pytest.raises(InvalidInput, match="Give `local`, `none`") as caught:
        create_embedder(spec)
    assert caught.value.field == "embedder"
    assert "pw" not in str(caught.value)
