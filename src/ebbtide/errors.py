"""Every error Ebbtide raises, in one tree.

    EbbtideError
    ├── InvalidInput           the caller's value is not acceptable         (400)
    │   ├── InvalidProfile     a ranking profile that cannot be computed
    │   ├── MissingInput       a value the chosen profile needs was not given
    │   └── IdempotencyMismatch  one key, two different bodies
    ├── Forbidden              the handle may not do that                    (403)
    ├── NotFound               no such memory, profile or job in this scope  (404)
    ├── Conflict               the stored state moved on                     (409)
    │   ├── StaleRevision      another writer was first
    │   ├── Tombstoned         the id was forgotten for good
    │   └── Held               a legal hold forbids it
    ├── StoreError             the database cannot serve                     (503)
    │   ├── StoreUnavailable   it does not answer
    │   ├── StoreUnsuitable    it lacks something Ebbtide needs
    │   ├── SchemaOutdated     its schema is of another version
    │   └── ModelMismatch      its vectors come from another model
    ├── NotTuned               tuning gave nothing that is better            (409)
    ├── Interrupted            the program was told to stop                  (503)
    └── ModelError             the embedder failed                           (502)
        ├── ModelUnavailable   it does not answer, or is not installed
        └── ModelInvalid       its answer or its file is not what it should be

The docstring of a class is its message and its remedy in general; `message` and `remedy` of an
instance speak of the case at hand. `to_dict()` is the one shape in which every face reports an error.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "Conflict",
    "EbbtideError",
    "Forbidden",
    "Held",
    "IdempotencyMismatch",
    "Interrupted",
    "InvalidInput",
    "InvalidProfile",
    "MissingInput",
    "ModelError",
    "ModelInvalid",
    "ModelMismatch",
    "ModelUnavailable",
    "NotFound",
    "NotTuned",
    "SchemaOutdated",
    "StaleRevision",
    "StoreError",
    "StoreUnavailable",
    "StoreUnsuitable",
    "Tombstoned",
]


class EbbtideError(Exception):
    """Something went wrong in Ebbtide. The subclasses say what, and what to do about it."""

    code: ClassVar[str] = "ebbtide_error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, *, field: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}" if self.remedy else self.message

    def to_dict(self) -> dict[str, dict[str, str | None]]:
        """The error as every face shows it: `{"error": {"code", "message", "field", "remedy"}}`."""
        return {"error": {"code": self.code, "message": self.message, "field": self.field, "remedy": self.remedy}}


class InvalidInput(EbbtideError):
    """A value given by the caller is not acceptable. Correct the named field and call again."""

    code = "invalid_input"
    status = 400


class InvalidProfile(InvalidInput):
    """A ranking profile cannot be computed as written. Correct the named field of the profile."""

    code = "invalid_profile"


class MissingInput(InvalidInput):
    """The profile needs a value that was not given. Give the named argument, or choose another profile."""

    code = "missing_input"


class IdempotencyMismatch(InvalidInput):
    """The idempotency key was used before with another body. Use a new key for a new memory."""

    code = "idempotency_mismatch"
    status = 409


class Forbidden(EbbtideError):
    """The handle's scopes or its agent's policy do not allow that. Ask for the scope, or have the policy changed."""

    code = "forbidden"
    status = 403


class NotFound(EbbtideError):
    """Nothing of that name or id is visible in this scope. Check the id, the tenant and the agent."""

    code = "not_found"
    status = 404


class Conflict(EbbtideError):
    """The stored state is not the one the caller assumed. Read it again and decide anew."""

    code = "conflict"
    status = 409


class StaleRevision(Conflict):
    """The memory has a newer revision than the caller expected. Read it again, then retry with that revision."""

    code = "stale_revision"


class Tombstoned(Conflict):
    """The id belongs to a forgotten memory and is never used again. Write the content under a new id."""

    code = "tombstoned"


class Held(Conflict):
    """A legal hold covers what was to be forgotten. Release the hold first, if you may."""

    code = "held"


class StoreError(EbbtideError):
    """The database cannot do what was asked. The subclasses say why."""

    code = "store_error"
    status = 503


class StoreUnavailable(StoreError):
    """The database does not answer. Check that it runs and that the location is right."""

    code = "store_unavailable"


class StoreUnsuitable(StoreError):
    """The database lacks something Ebbtide needs. The message names it; install it and open again."""

    code = "store_unsuitable"


class SchemaOutdated(StoreError):
    """The schema in the database is of another version than this program. Run `ebbtide migrate`, or upgrade Ebbtide."""

    code = "schema_outdated"


class ModelMismatch(StoreError):
    """The store's vectors come from another model than the configured one. Open it with that, or export and import."""

    code = "model_mismatch"
    status = 409


class NotTuned(EbbtideError):
    """Tuning gave no weights that are better by more than noise. Judge more hits, or keep the profile as it is."""

    code = "not_tuned"
    status = 409

    def __init__(self, message: str, *, tuned: object = None, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.tuned = tuned
        """What was found all the same, a `Tuned`; None where there was too little to look for it."""


class Interrupted(EbbtideError):
    """The program was told to stop before it was done. What it says of what was stored holds; run it again to go on."""

    code = "interrupted"
    status = 503


class ModelError(EbbtideError):
    """The embedding model failed. The subclasses say how."""

    code = "model_error"
    status = 502


class ModelUnavailable(ModelError):
    """The embedding model does not answer or is not installed. Check its endpoint, or install the named package."""

    code = "model_unavailable"


class ModelInvalid(ModelError):
    """The embedding model's file or answer is not what it should be. Reinstall it, or correct its configuration."""

    code = "model_invalid"
