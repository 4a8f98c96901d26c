"""A ranking as data: the profile, how it is read from user data, narrowed for one recall, and reviewed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal, Self, cast

from pydantic import ConfigDict, Field, ModelWrapValidatorHandler, TypeAdapter, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from ebbtide.errors import InvalidInput, InvalidProfile
from ebbtide.rank.parts import EffectiveConfidence, Factor, FittedTo, FullText, Gates, GraphWalk, Part, TideParameters
from ebbtide.text import shown
from ebbtide.types.memory import Kind

__all__ = ["MAXIMUM_LIMIT", "Profile", "narrow", "parse_profile", "review"]

MAXIMUM_LIMIT = 200
WEIGHT_TOLERANCE = 1e-9
RISKY_RELATIVE_CUTOFF = 0.8
LARGEST_PRIORITY = 1_000

# Columns of the explanation that the laws themselves fill.
RESERVED_NAMES = frozenset({"similarity", "fused", "cap", "quality"})
RERANK_NAME = "rerank"

TimeFilter = Literal["off", "alone", "always"]
Switch = Literal["off", "on"]
Flag = Annotated[bool, Field(strict=True)]
Limit = Annotated[int, Field(strict=True, ge=1, le=MAXIMUM_LIMIT)]
_LIMIT: TypeAdapter[int] = TypeAdapter(Limit)


class Profile(Part):
    """How candidates are scored, filtered and cut: data that a tenant may store, equal after a trip through JSON.

    Attributes:
        name: how recalls refer to it, at most 64 characters, no space at either end.
        law: `sum`: Σ wᵢ·fᵢ, weights normalised to 1. `boost`: base × (1 + Σ wᵢ·fᵢ), always from the raw base.
            `compound`: base × Π(1 + wᵢ·fᵢ), capped. `listwise`: the steps of `tide`, over the whole list.
        base: what `boost` and `compound` start from: `similarity`, or `fused` (a reranker's or fused score where there
            is one, else similarity). None for the other laws.
        factors: what is summed or boosted, each under its own `name`.
        weights: `normalise` weights that do not sum to 1, or insist on `exact` ones (within 1e-9). For `sum` alone.
        cap: the highest value that `compound` gives, None for none.
        quality_weighting: `compound` multiplies its capped value by effective confidence.
        gates, full_text: what is left out, and what full text counts for.
        drop_personal_data: rows whose content holds structured personal data are not returned.
        limit: results of a recall that asks for no number; 1 to `max_limit`, which is at most 200.
        tide: the settings of `listwise`.
        kinds: which kinds of memory are searched where the caller names none; None for all.
        decompose: a query that asks for several things is searched for each of them too, and their ranks are fused
            (see `ebbtide.decompose`). Not for `listwise`, which measured worse with it.
        time_filter: which queries are answered from the time they name: `off` for none, `alone` for those that ask
            about nothing else, `always` for all that name one.
        rerank: a reranker, where one is set, orders the best candidates anew.
        graph: `on` also walks from the entities that the query names, and from those of the best hits, to what else
            mentions them. What that is worth, `tide.graph_weight` or the factor `linked` says.
        walk: how far.
        routing: `on` searches only what mentions an entity of the types that the query is likely to ask about, where
            some are likelier than others and enough is found, and learns from what came back. Off in every preset.
        provenance: where the weights come from, for one that was tuned.

    Raises:
        InvalidProfile: naming the field, and what to do about it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^\S(.{0,62}\S)?$")]
    law: Literal["sum", "boost", "compound", "listwise"]
    base: Literal["similarity", "fused"] | None = None
    factors: tuple[Factor, ...] = ()
    weights: Literal["normalise", "exact"] = "normalise"
    cap: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = None
    quality_weighting: bool = False
    gates: Gates = Gates()
    full_text: FullText = FullText()
    drop_personal_data: bool = False
    limit: Limit = 10
    max_limit: Limit = MAXIMUM_LIMIT
    tide: TideParameters | None = None
    kinds: Annotated[tuple[Kind, ...], Field(min_length=1)] | None = None
    decompose: Flag = False
    time_filter: TimeFilter = "off"
    rerank: Flag = False
    graph: Switch = "off"
    walk: GraphWalk = GraphWalk()
    routing: Switch = "off"
    provenance: FittedTo | None = Field(default=None, exclude_if=lambda value: value is None)

    @model_validator(mode="after")
    def _check_law(self) -> Self:
        multiplies = self.law in ("boost", "compound")
        if multiplies and self.base is None:
            raise _refusal("base", f"The law `{self.law}` needs a base.", "Set `base` to `similarity`.")
        if not multiplies and self.base is not None:
            raise _refusal("base", f"The law `{self.law}` has no base.", "Leave `base` out.")
        if self.law != "compound" and (self.cap is not None or self.quality_weighting):
            field = "quality_weighting" if self.cap is None else "cap"
            raise _refusal(field, f"Only the law `compound` has `{field}`.", f"Leave `{field}` out.")
        if self.law == "listwise" and self.factors:
            raise _refusal("factors", "The law `listwise` has no factors.", "Set its steps under `tide`.")
        if self.law == "listwise" and self.decompose:
            message = "The law `listwise` ranks one list as a whole, and searches a query as it is."
            raise _refusal("decompose", message, "Leave `decompose` out.")
        if self.law != "listwise" and self.tide is not None:
            raise _refusal("tide", f"The law `{self.law}` has no `tide` settings.", "Leave `tide` out.")
        return self

    @model_validator(mode="after")
    def _check_factors(self) -> Self:
        taken = {RERANK_NAME, *(RESERVED_NAMES if self.law in ("boost", "compound") else ())}
        for position, factor in enumerate(self.factors):
            if factor.name in taken:
                field = f"factors.{position}.name"
                raise _refusal(field, f"`{factor.name}` is taken.", "Give each factor a `name` of its own.")
            taken.add(factor.name)
        if self.law != "sum":
            return self
        total = math.fsum(factor.weight for factor in self.factors)
        if total == 0 or not math.isfinite(total):
            raise _refusal("factors", "The weights do not add up to a positive number.", "Give one a weight above 0.")
        if self.weights == "exact" and abs(total - 1.0) > WEIGHT_TOLERANCE:
            message = f"The weights sum to {total!r} and must sum to 1 within {WEIGHT_TOLERANCE:g}."
            raise _refusal("factors", message, "Correct them, or set `weights` to `normalise`.")
        return self

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        if self.limit > self.max_limit:
            message = f"The limit {self.limit} is above `max_limit`, {self.max_limit}."
            raise _refusal("limit", message, "Lower one or raise the other.")
        floor, stand_in = self.gates.relevance_floor, self.full_text.relevance
        if floor > 0 and floor >= stand_in:
            message = (
                f"A relevance floor of {floor:g} drops every full-text hit, whose relevance counts as {stand_in:g}."
            )
            raise _refusal("gates.relevance_floor", message, f"Set it below {stand_in:g}.")
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _translate_errors(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as exc:
            raise _invalid_profile(exc.errors(include_url=False)[0]) from None

    @property
    def weighs_decay(self) -> bool:
        """Whether it reads effective confidence, and so where each memory is on its forgetting curve."""
        return self.quality_weighting or any(
            isinstance(factor, EffectiveConfidence) and factor.weight for factor in self.factors
        )

    @property
    def normalised_weights(self) -> tuple[float, ...]:
        """The weights of the factors; under the law `sum` divided by their sum, unless that is 1 within 1e-9."""
        weights = tuple(factor.weight for factor in self.factors)
        total = math.fsum(weights)
        if self.law != "sum" or abs(total - 1.0) <= WEIGHT_TOLERANCE:
            return weights
        return tuple(weight / total for weight in weights)


def _refusal(field: str, message: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError("profile", "{message}", {"field": field, "message": message, "remedy": remedy})


def _invalid_profile(error: ErrorDetails) -> InvalidProfile:
    context = error.get("ctx", {})
    if error["type"] == "profile":
        return InvalidProfile(context["message"], field=context["field"], remedy=context["remedy"])
    # Pydantic names the kind of a factor after its position; to the user it is no part of the path.
    path = [str(step) for i, step in enumerate(error["loc"]) if not (i == 2 and error["loc"][0] == "factors")]
    field = ".".join(path) or "profile"
    match error["type"]:
        case "extra_forbidden":
            known = ", ".join(Profile.model_fields) if len(path) == 1 else "those its description lists"
            return InvalidProfile(f"A profile has no key `{field}`.", field=field, remedy=f"Known keys: {known}.")
        case "missing":
            return InvalidProfile(f"The profile lacks `{field}`.", field=field, remedy="Add it.")
        case _:
            message = f"`{field}` is not acceptable: {error['msg']}."
            return InvalidProfile(message, field=field, remedy="Correct that value.")


def parse_profile(data: object) -> Profile:
    """A profile from a mapping such as a JSON object.

    A leftover `priorities` or `ranking.priorities` is ignored; `review` of the same data says so.

    Raises:
        InvalidProfile: the data is no mapping, or cannot be computed as written; the field is named.
    """
    if not isinstance(data, Mapping):
        raise InvalidProfile(
            "A profile is a mapping of settings.", field="profile", remedy="Give an object with `name` and `law`."
        )
    return Profile.model_validate(_without_priorities(cast("Mapping[str, object]", data)))


def _without_priorities(data: Mapping[str, object]) -> dict[str, object]:
    kept = {key: value for key, value in data.items() if key != "priorities"}
    ranking = kept.get("ranking")
    if isinstance(ranking, Mapping) and set(cast("Mapping[str, object]", ranking)) == {"priorities"}:
        del kept["ranking"]
    return kept


def review(profile: Profile | Mapping[str, object]) -> list[str]:
    """Warnings about a profile that is accepted all the same; about leftover keys too, where its raw data is given.

    Raises:
        InvalidProfile: raw data that is no profile.
    """
    if isinstance(profile, Profile):
        warnings: list[str] = []
        raw: Mapping[str, object] = {}
    else:
        raw, profile = profile, parse_profile(profile)
        ranking = raw.get("ranking")
        nested = cast("Mapping[str, object]", ranking).get("priorities") if isinstance(ranking, Mapping) else None
        leftovers = {"priorities": raw.get("priorities"), "ranking.priorities": nested}
        warnings = [_priorities_warning(key, value) for key, value in leftovers.items() if value is not None]
    cutoff = profile.gates.relative_cutoff
    if cutoff >= RISKY_RELATIVE_CUTOFF:
        warnings.append(
            f"A `relative_cutoff` of {cutoff:g} is risky: from {RISKY_RELATIVE_CUTOFF:g} upwards it drops many "
            "legitimate hits, since similarities lie close together."
        )
    return warnings


def _priorities_warning(key: str, priorities: object) -> str:
    entries = cast("Mapping[str, object]", priorities).items() if isinstance(priorities, Mapping) else ()
    conversions = [
        # Rounded, because 1.09 - 1 is 0.09000000000000008 in binary and 0.09 to whoever wrote 1.09.
        f"{pattern}: {priority:g} becomes a bonus of {round(priority - 1, 9):g}"
        for pattern, priority in entries
        if isinstance(pattern, str) and isinstance(priority, int | float) and abs(priority) <= LARGEST_PRIORITY
    ]
    spelled = f" ({'; '.join(conversions)})" if conversions else ""
    return f"`{key}` is ignored. Write namespace rules instead, with bonus = priority - 1{spelled}."


def narrow(
    profile: Profile,
    *,
    limit: int | None = None,
    min_score: float | None = None,
    min_similarity: float | None = None,
    min_confidence: float | None = None,
    relative_cutoff: float | None = None,
) -> Profile:
    """The profile with the gates and the limit that one recall or a policy asks for; None keeps the profile's own.

    Made before scoring, because the similarity floor decides which rows count as full-text hits.

    Raises:
        InvalidInput: the limit is not within 1 and `max_limit`, or a threshold is out of its range; names it.
    """
    thresholds = {
        "min_similarity": min_similarity,
        "min_confidence": min_confidence,
        "min_score": min_score,
        "relative_cutoff": relative_cutoff,
    }
    given = {field: value for field, value in thresholds.items() if value is not None}
    changes: dict[str, object] = {}
    if limit is not None:
        changes["limit"] = _checked_limit(limit, profile.max_limit)
    if given:
        changes["gates"] = _narrowed_gates(profile.gates, given)
    return profile.model_copy(update=changes) if changes else profile


def _checked_limit(limit: int, maximum: int) -> int:
    try:
        if _LIMIT.validate_python(limit) <= maximum:
            return limit
    except ValidationError:
        raise _limit_error(limit, maximum) from None
    raise _limit_error(limit, maximum)


def _limit_error(limit: int, maximum: int) -> InvalidInput:
    message = f"The limit must be a whole number from 1 to {maximum}, not {shown(limit)}."
    return InvalidInput(message, field="limit", remedy=f"Ask for 1 to {maximum} results.")


def _narrowed_gates(gates: Gates, thresholds: Mapping[str, float]) -> Gates:
    try:
        return Gates.model_validate(gates.model_dump() | dict(thresholds))
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        field = str(error["loc"][0])
        remedy = "Give a number of at least 0." if field == "min_score" else "Give a number from 0 to 1."
        raise InvalidInput(f"`{field}` is not acceptable: {error['msg']}.", field=field, remedy=remedy) from None
