"""Settings: facts of a deployment and limits with their units; rankings are profiles, not settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field

from ebbtide.types.base import Given

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Settings"]

PREFIX = "EBBTIDE_"


class Settings(Given):
    """What a deployment decides. Every field can be set by the environment variable `EBBTIDE_<FIELD>`."""

    model_config = ConfigDict(allow_inf_nan=False)

    @classmethod
    def remedy_for(cls, field: str) -> str:
        return f"Correct {PREFIX}{field.upper()} in the environment or the keyword {field}."

    store: str = Field(
        default="./ebbtide-store",
        description="Where memories live: a folder (embedded PostgreSQL) or a postgresql:// DSN.",
    )
    embedder: str = Field(
        default="local",
        description="The embedding model: `local`, `none`, `fake[:dimension]`, or `http(s)://host/v1#model` "
        "for an OpenAI-compatible endpoint.",
    )
    embedder_api_key: str | None = Field(
        default=None, repr=False, description="The bearer token sent to an HTTP embedding endpoint."
    )
    embedder_timeout_seconds: float = Field(
        default=30.0, gt=0, le=600, description="How long one embedding request may take, in seconds."
    )
    embedder_threads: int = Field(
        default=1, ge=1, le=64, description="Threads the local embedding model may use, a count."
    )

    classifier: str | None = Field(
        default=None,
        description="The chat model that may settle conflicts between memories: `http(s)://host/v1#model` of an "
        "OpenAI-compatible endpoint; unset leaves them to a person.",
    )
    classifier_api_key: str | None = Field(
        default=None, repr=False, description="The bearer token sent to the classifier."
    )
    classifier_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        le=600,
        description="How long a write may wait for one answer of the classifier, in seconds.",
    )

    find_updates: bool = Field(
        default=True,
        description="Whether a memory that says that something changed replaces, by itself, the one memory that it "
        "changes; doubtful pairs become conflicts.",
    )

    intent_model: str | None = Field(
        default=None,
        description="The chat model that names the intent of a query no phrase of which tells it: "
        "`http(s)://host/v1#model` of an OpenAI-compatible endpoint; unset takes such queries as factual.",
    )
    intent_model_api_key: str | None = Field(
        default=None, repr=False, description="The bearer token sent to the intent model."
    )
    intent_model_timeout_seconds: float = Field(
        default=2.0,
        gt=0,
        le=600,
        description="How long a recall may wait for an answer of the intent model, in seconds.",
    )
    extractor: str = Field(
        default="off",
        description="Who reads facts from what runs said: `off`, `rules`, or the chat model "
        "`http(s)://host/v1#model` of an OpenAI-compatible endpoint; `fake` in tests.",
    )
    extractor_api_key: str | None = Field(
        default=None, repr=False, description="The bearer token sent to the extractor."
    )
    extractor_timeout_seconds: float = Field(
        default=60.0, gt=0, le=3_600, description="How long one answer of the extractor may take, in seconds."
    )
    summariser: str | None = Field(
        default=None,
        description="The chat model that summarises conversations: `http(s)://host/v1#model` of an OpenAI-compatible "
        "endpoint; unset makes summaries of the conversation's own sentences.",
    )
    summariser_api_key: str | None = Field(
        default=None, repr=False, description="The bearer token sent to the summariser."
    )
    summariser_timeout_seconds: float = Field(
        default=60.0, gt=0, le=600, description="How long one answer of the summariser may take, in seconds."
    )
    episode_tokens: int = Field(
        default=256, ge=32, le=2_000, description="Length of the summary of a branch of a conversation, in tokens."
    )
    episode_turns: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="Summarise every night the branches of conversations with at least so many new turns, a count; "
        "0 leaves that to `episodes.summarise`.",
    )
    consolidator: str | None = Field(
        default=None,
        description="The chat model that makes one text of near duplicates where `consolidate` is asked for that: "
        "`http(s)://host/v1#model` of an OpenAI-compatible endpoint; `fake` in tests.",
    )
    consolidator_api_key: str | None = Field(
        default=None, repr=False, description="The bearer token sent to the consolidator."
    )
    consolidator_timeout_seconds: float = Field(
        default=60.0, gt=0, le=600, description="How long one answer of the consolidator may take, in seconds."
    )
    consolidate_nightly: bool = Field(
        default=False, description="Merge near duplicates every night, by rules, in every tenant and for every agent."
    )
    reranker: str | None = Field(
        default=None,
        description="The model that may order the best candidates anew: `fake`, the folder of a cross-encoder with "
        "`model.onnx` and `tokenizer.json`, or `http(s)://host#model` in Cohere's v2 form; unset for none.",
    )
    reranker_api_key: str | None = Field(
        default=None, repr=False, description="The bearer token sent to an HTTP reranker."
    )
    reranker_timeout_seconds: float = Field(
        default=2.0,
        gt=0,
        le=600,
        description="How long a recall may wait for the reranker, in seconds; then the order stays.",
    )
    reranker_threads: int = Field(default=1, ge=1, le=64, description="Threads a local cross-encoder may use, a count.")
    rerank_rows: int = Field(default=50, ge=1, le=50, description="Candidates reranked in one recall, a count of rows.")

    text_search_configuration: str = Field(
        default="english",
        pattern=r"^[a-z_][a-z0-9_]{0,62}$",
        description="The PostgreSQL text search configuration that stems words; fixed when a store is created.",
    )
    exact_search_rows: int = Field(
        default=10_000,
        ge=0,
        le=1_000_000_000,
        description="Scopes of at most so many rows are searched exactly; larger ones by HNSW once its index is built.",
    )
    candidate_rows: int = Field(
        default=100, ge=10, le=1_000, description="Rows each arm of a recall may contribute, a count."
    )
    lexical_budget_rows: int = Field(
        default=1_500,
        ge=100,
        le=1_000_000,
        description="Rows the lexical arm may score in scopes above `exact_search_rows`, a count; "
        "the commonest words are left out first.",
    )
    hnsw_ef_search: int = Field(default=100, ge=40, le=1_000, description="Width of the HNSW search, a count of nodes.")
    hnsw_scan_rows: int = Field(
        default=20_000,
        ge=1,
        le=1_000_000_000,
        description="Rows an HNSW search may walk past a filter before the scope is searched exactly, a count.",
    )
    hnsw_ef_construction: int = Field(
        default=64, ge=16, le=1_000, description="Width of the HNSW build, a count of nodes."
    )
    scope_cache_seconds: float = Field(
        default=5.0,
        ge=0,
        le=86_400,
        description="How long the size and the speakers of a scope may be remembered between recalls, in seconds.",
    )

    pool_connections: int = Field(
        default=8, ge=2, le=100, description="Database connections one engine may hold, a count."
    )
    statement_timeout_seconds: float = Field(
        default=60.0, gt=0, le=86_400, description="How long one database statement may take, in seconds."
    )
    connect_timeout_seconds: float = Field(
        default=30.0, gt=0, le=3_600, description="How long opening a store may wait for its server, in seconds."
    )

    max_content_characters: int = Field(
        default=100_000, ge=1, le=500_000, description="Length of one memory's content, in characters."
    )
    max_query_characters: int = Field(default=10_000, ge=1, le=100_000, description="Length of a query, in characters.")
    max_metadata_bytes: int = Field(
        default=65_536, ge=2, le=10_000_000, description="Size of one memory's metadata as JSON, in bytes."
    )
    max_document_bytes: int = Field(
        default=268_435_456,
        ge=1,
        le=10_000_000_000,
        description="Size of one file that is ingested, and of the text that is found in it, in bytes.",
    )
    max_batch_drafts: int = Field(
        default=100_000, ge=1, le=1_000_000, description="Memories in one `remember_many`, a count."
    )
    asked_query_characters: int = Field(
        default=400,
        ge=50,
        le=100_000,
        description="Queries longer than this are cut down to what is asked before they are searched, in characters.",
    )

    idempotency_days: int = Field(
        default=7, ge=1, le=365, description="How long an idempotency key is remembered, in days."
    )
    recall_log_days: int = Field(
        default=30,
        ge=0,
        le=3_650,
        description="How long the log of recalls (ids and scores) is kept, in days; 0 keeps none.",
    )
    judgement_days: int = Field(
        default=365,
        ge=0,
        le=3_650,
        description="How long a logged recall is kept whose hits were judged, to tune profiles by, in days; 0 keeps it "
        "no longer than others, and logs no factor values.",
    )
    purge_after_days: int = Field(
        default=30,
        ge=0,
        le=3_650,
        description="How long the emptied row of a forgotten memory stays before it is removed, in days.",
    )
    soft_delete_confidence: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Effective confidence below which an idle memory is deleted softly where forgetting is on, "
        "between 0 and 1.",
    )
    soft_delete_idle_days: float = Field(
        default=180.0,
        ge=1,
        le=36_525,
        description="How long a memory of too little effective confidence must have been idle for that, in days.",
    )
    soft_delete_after_days: float = Field(
        default=365.0,
        ge=1,
        le=36_525,
        description="After how long without use a memory is deleted softly whatever its confidence, in days.",
    )
    flush_seconds: float = Field(
        default=1.0, gt=0, le=60, description="How often counts of access are written in the background, in seconds."
    )
    expiry_refresh_seconds: float = Field(
        default=0.0,
        ge=0,
        le=36_525 * 86_400,
        description="How long a memory that expires goes on for at least after it came back in a recall, in seconds; "
        "0 leaves every end as it was given.",
    )
    chance_seed: int | None = Field(
        default=None,
        description="The seed of what is left to chance, such as memories of other topics, so that it can be repeated, "
        "a count; unset is another one each time.",
    )
    in_process_worker: bool | None = Field(
        default=None,
        description="Run background jobs inside this process; unset means only where the store is embedded.",
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """Settings from `EBBTIDE_*` variables, overridden by keyword.

        Raises:
            InvalidInput: a variable or keyword has an unacceptable value; the error names it.
        """
        source = os.environ if environment is None else environment
        values: dict[str, Any] = {
            name: source[PREFIX + name.upper()] for name in cls.model_fields if source.get(PREFIX + name.upper())
        }
        values.update({name: value for name, value in overrides.items() if value is not None})
        return cls.model_validate(values)
