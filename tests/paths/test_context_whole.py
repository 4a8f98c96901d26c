"""Every section of a context block, each filled by the public verbs alone."""

from __future__ import annotations

from random import Random

from ebbtide import Ebbtide
from ebbtide.types.context import SECTIONS


class Willing(Random):
    """Chance that always decides for other topics."""

    def betavariate(self, alpha: float, beta: float) -> float:
        return 0.75


def test_the_public_verbs_fill_every_section(memory: Ebbtide) -> None:
    object.__setattr__(memory.wait_for(memory.inner.engine), "chance", Willing())
    for name in ("Ana", "Ben", "Cleo"):
        memory.remember(f"The ferry is steered by {name}", entities=[{"name": name, "type": "PERSON"}])
    memory.remember(
        "Ana works at the ferry",
        relation={
            "subject": {"name": "Ana", "type": "PERSON"},
            "predicate": "works_at",
            "object": {"name": "Harbour Lines", "type": "COMPANY"},
        },
    )
    memory.remember("Zoe paints boats", confidence=0.9, entities=[{"name": "Zoe", "type": "PERSON"}])
    memory.scoped(chat="c1").episodes.add("The ferry is booked for Friday.")
    memory.scoped(chat="c1").episodes.summarise()
    memory.ingest(text="# Ferry\n\nThe ferry leaves pier four.\n", name="ferry.md")
    memory.remember("Ask about the ferry", kind="note", metadata={"title": "Travel ideas"})
    memory.remember("The ferry of the project", namespace="vector.project.ferry")
    chosen = memory.remember("Tickets are in the drawer").memory
    block = memory.context(
        "ferry",
        intent="exploratory",
        profile="agentium",
        min_score=0.5,
        selected=[chosen.id],
        project="vector.project.ferry",
        kinds=["fact", "episode", "chunk", "note", "relation"],
    )
    assert set(block.sections) == set(SECTIONS)
    for line in (
        "[Ana] — confidence: 70%",
        "- Ana — works_at Harbour Lines",
        "- [Zoe]: Zoe paints boats",
        "  Topics: ",
        "- (Travel ideas) Ask about the ferry",
        "(ferry.md",
    ):
        assert line in block.text, line
