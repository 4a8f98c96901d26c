"""Rules on namespaces: kept for a tenant, and read as what they say together of one namespace."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ebbtide.checks import check_text, check_word
from ebbtide.errors import InvalidInput, NotFound
from ebbtide.govern.access import ADMIN, requires
from ebbtide.govern.audit import write as write_audit
from ebbtide.govern.namespaces import check_pattern, expression_of, rule_specificity
from ebbtide.identifiers import new_id, parse_id
from ebbtide.text import is_blank, shown
from ebbtide.types.memory import KINDS
from ebbtide.types.rules import PERSONAL_DATA_MODES, Rule

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.types.caller import Caller

__all__ = [
    "Bearing",
    "RuleBook",
    "add_rule",
    "as_rule",
    "covers",
    "current_rules",
    "list_rules",
    "remove_rule",
    "revision_in",
    "rules_at",
    "rules_in",
    "rules_last_seen",
    "set_forgetting",
    "set_personal_data",
]

SMALLEST_BONUS, LARGEST_BONUS = -1.0, 10.0
LONGEST_INSTRUCTION = 10_000
LONGEST_RETENTION_DAYS = 36_525
MOST_NAMESPACES = 10_000
RULES = "rules"


@dataclass(frozen=True, slots=True)
class Bearing:
    """What all rules together say of one namespace: the sum of their bonuses, and the settings of the most specific."""

    bonus: float = 0.0
    instruction: str | None = None
    default_kind: str | None = None
    personal_data: str | None = None
    retention_days: int | None = None


class RuleBook:
    """The rules of a tenant as of a revision: what they say of namespaces, and whether its memories fade."""

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        *,
        personal_data: str | None = None,
        forgetting: bool = False,
        revision: UUID | None = None,
    ) -> None:
        self.rules = tuple(rules)
        self.personal_data = personal_data
        self.forgetting = forgetting
        self.revision = revision
        self._known: dict[str, Bearing] = {}

    def __bool__(self) -> bool:
        return bool(self.rules)

    def on(self, namespace: str) -> Bearing:
        """What the rules say of a namespace."""
        known = self._known.get(namespace)
        if known is None:
            if len(self._known) >= MOST_NAMESPACES:
                self._known.clear()
            known = bearing_of(self.rules, namespace)
            if known.personal_data is None and self.personal_data is not None:
                known = replace(known, personal_data=self.personal_data)
            self._known[namespace] = known
        return known

    def with_rule(self, rule: Rule) -> RuleBook:
        """The book with one more rule, in place of the one that has its id."""
        others = [kept for kept in self.rules if rule.id is None or kept.id != rule.id]
        return RuleBook(
            [*others, rule], personal_data=self.personal_data, forgetting=self.forgetting, revision=self.revision
        )

    @property
    def screens(self) -> bool:
        """Whether anything is laid down on personal data."""
        return self.personal_data is not None or any(rule.personal_data is not None for rule in self.rules)


def covers(rule: Rule, namespace: str) -> bool:
    """Whether a rule bears on the namespace: it matches the pattern, or lies below what does."""
    return _compiled(rule.pattern).fullmatch(namespace) is not None


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(expression_of(pattern) + r"(\..+)?")


def bearing_of(rules: Iterable[Rule], namespace: str) -> Bearing:
    """What rules say of a namespace: bonuses add up, and of the settings the longest pattern's wins.

    Longest means the most segments, then the most literal characters; of equals the one added first.
    """
    matching = [rule for rule in rules if covers(rule, namespace)]
    if not matching:
        return Bearing()
    ordered = sorted(matching, key=lambda rule: rule_specificity(rule.pattern), reverse=True)

    def longest(field: str) -> Any:
        return next((value for rule in ordered if (value := getattr(rule, field)) is not None), None)

    return Bearing(
        math.fsum(rule.bonus for rule in matching),
        longest("instruction"),
        longest("default_kind"),
        longest("personal_data"),
        longest("retention_days"),
    )


async def rules_at(engine: Engine, transaction: Transaction, tenant: str, revision: UUID | None) -> RuleBook:
    """The tenant's rules at the revision that the same snapshot showed, read only where they changed since."""
    known = engine.governance.get(tenant, revision, RULES)
    if isinstance(known, RuleBook):
        return known
    book = RuleBook()
    if revision is not None:
        rows = await transaction.named("govern.rules", tenant=tenant)
        personal_data, forgetting = await transaction.one("govern.laid_down", tenant=tenant)
        kept = (Rule.model_construct(**row._asdict()) for row in rows)
        book = RuleBook(kept, personal_data=personal_data, forgetting=forgetting, revision=revision)
    engine.governance.put(tenant, revision, RULES, book)
    return book


async def rules_last_seen(engine: Engine, transaction: Transaction, tenant: str) -> RuleBook:
    """The tenant's rules as this engine saw them last. Whoever goes by them checks their revision before the end."""
    known = engine.governance.latest(tenant, RULES)
    return known if isinstance(known, RuleBook) else await rules_in(engine, transaction, tenant)


async def rules_in(engine: Engine, transaction: Transaction, tenant: str) -> RuleBook:
    """The tenant's rules as a transaction sees them."""
    return await rules_at(engine, transaction, tenant, await revision_in(transaction, tenant))


async def revision_in(transaction: Transaction, tenant: str) -> UUID | None:
    """The revision of what the tenant laid down, as a transaction sees it; None where that is nothing."""
    row = await transaction.one("govern.revision", tenant=tenant)
    return row[0] if row is not None else None


async def current_rules(engine: Engine, tenant: str) -> RuleBook:
    """The tenant's rules as they are now."""
    async with engine.database.transaction(tenant, snapshot=True) as transaction:
        return await rules_in(engine, transaction, tenant)


@requires(ADMIN)
async def list_rules(engine: Engine, caller: Caller) -> list[Rule]:
    """The tenant's rules, in the order in which they were added."""
    return list((await current_rules(engine, caller.tenant)).rules)


def as_rule(rule: Rule | Mapping[str, Any]) -> Rule:
    """A rule from itself or from its fields, every one of them acceptable.

    Raises:
        InvalidInput: naming the field.
    """
    if isinstance(rule, Rule):
        return check_rule(rule)
    if not isinstance(rule, Mapping):
        raise InvalidInput("A rule is an object.", field="rule", remedy="Give a mapping with a pattern, or a Rule.")
    unknown = next((shown(name, 40) for name in rule if name not in Rule.model_fields), None)
    if unknown is not None or "pattern" not in rule:
        raise InvalidInput(
            f"A rule has no field {unknown}." if unknown else "The rule has no pattern.",
            field=unknown.strip("'") if unknown else "pattern",
            remedy=f"A rule has the fields {', '.join(Rule.model_fields)}.",
        )
    given = dict(rule)
    if given.get("id") is not None:
        given["id"] = parse_id(given["id"], "id")
    return check_rule(Rule.model_construct(**given))


@requires(ADMIN)
async def add_rule(engine: Engine, caller: Caller, rule: Rule) -> Rule:
    """Keep a rule; answers with it as it is kept.

    Raises:
        InvalidInput: the pattern or a setting is not acceptable; the error names it.
    """
    now = engine.clock.now()
    kept = check_rule(rule).model_copy(update={"id": new_id(now), "created_at": now})
    values = {name: value for name, value in kept if name != "created_at"}
    async with engine.database.transaction(caller.tenant) as transaction:
        await transaction.run("govern.mark_changed", tenant=caller.tenant, revision=new_id(now), now=now)
        await transaction.run("govern.add_rule", tenant=caller.tenant, now=now, **values)
    return kept


@requires(ADMIN)
async def remove_rule(engine: Engine, caller: Caller, rule_id: UUID | str) -> None:
    """Remove a rule.

    Raises:
        NotFound: the tenant has no such rule.
    """
    id_, now = parse_id(rule_id, "rule_id"), engine.clock.now()
    async with engine.database.transaction(caller.tenant) as transaction:
        await transaction.run("govern.mark_changed", tenant=caller.tenant, revision=new_id(now), now=now)
        if await transaction.one("govern.remove_rule", tenant=caller.tenant, id=id_) is None:
            raise NotFound(f"There is no rule {id_}.", field="rule_id", remedy="List the rules to see which there are.")


@requires(ADMIN)
async def set_personal_data(engine: Engine, caller: Caller, mode: str | None) -> None:
    """Lay down what is done with personal data where no rule says it; None for keeping and marking it.

    Raises:
        InvalidInput: there is no such mode.
    """
    check_personal_data(mode)
    now = engine.clock.now()
    async with engine.database.transaction(caller.tenant) as transaction:
        await transaction.run("govern.mark_changed", tenant=caller.tenant, revision=new_id(now), now=now)
        await transaction.run("govern.set_personal_data", tenant=caller.tenant, mode=mode)


@requires(ADMIN)
async def set_forgetting(engine: Engine, caller: Caller, enabled: bool) -> None:
    """Let a tenant's memories fade and come back to life, or no longer; the audit has it."""
    now = engine.clock.now()
    async with engine.database.transaction(caller.tenant) as transaction:
        await transaction.run("govern.mark_changed", tenant=caller.tenant, revision=new_id(now), now=now)
        await transaction.run("govern.set_forgetting", tenant=caller.tenant, enabled=enabled)
        detail = {"operation": "forgetting", "to": "on" if enabled else "off"}
        await write_audit(transaction, caller, "status", [(None, detail)], now)


def check_personal_data(mode: str | None) -> None:
    """Raises InvalidInput where a mode is none of those there are, and not None."""
    if mode is not None:
        check_word(mode, "personal_data", PERSONAL_DATA_MODES, "something that can be done with personal data")


def check_rule(rule: Rule) -> Rule:
    """The rule itself, if every field is acceptable.

    Raises:
        InvalidInput: naming the field.
    """
    check_pattern(rule.pattern, "pattern", templates="any")
    bonus, days = rule.bonus, rule.retention_days
    if isinstance(bonus, bool) or not isinstance(bonus, int | float) or not SMALLEST_BONUS <= bonus <= LARGEST_BONUS:
        raise InvalidInput(
            f"bonus must be a number from {SMALLEST_BONUS:g} to {LARGEST_BONUS:g}.",
            field="bonus",
            remedy="Give a share of the relevance, such as 0.1 for a tenth more.",
        )
    if rule.instruction is not None and is_blank(check_text(rule.instruction, "instruction", LONGEST_INSTRUCTION)):
        raise InvalidInput("The instruction is empty.", field="instruction", remedy="Leave it out, or give it a text.")
    if rule.default_kind is not None:
        check_word(rule.default_kind, "default_kind", KINDS, "a kind of memory")
    check_personal_data(rule.personal_data)
    whole = isinstance(days, int) and not isinstance(days, bool)
    if days is not None and not (whole and 1 <= days <= LONGEST_RETENTION_DAYS):
        raise InvalidInput(
            f"retention_days must be a whole number of days from 1 to {LONGEST_RETENTION_DAYS:,}.",
            field="retention_days",
            remedy="Leave it out to keep memories for good.",
        )
    return rule
