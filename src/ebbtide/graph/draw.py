"""An entity's neighbourhood as a picture: places for its nodes, and an SVG of them."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from ebbtide.types.graph import Neighbourhood, Side

__all__ = ["layout", "svg"]

RING = 240.0
LEAST_ARC = 96.0
MARGIN = 150.0
LINE_HEIGHT = 15
LONGEST_LABEL = 28
# XML 1.0 has no way of writing these.
NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FILLS = {
    "PERSON": "#cfe3ff", "COMPANY": "#ffe1c4", "PROJECT": "#dff3d8", "SKILL": "#f2dcf5", "EVENT": "#fff2b3",
    "PLACE": "#d5f0ee", "PRODUCT": "#ffd9d9", "TOPIC": "#e6e6ea",
}  # fmt: skip
STYLE = "text{font-family:system-ui,sans-serif;font-size:13px;fill:#1c1c22}.l{font-size:11px;fill:#55555f}"


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a node is."""

    x: float
    y: float


def layout(neighbourhood: Neighbourhood) -> dict[UUID, Spot]:
    """Places on rings around the entity in the middle: each hop a ring, each node near that by which it was reached.

    A ring is as wide as its nodes need to be `LEAST_ARC` apart.
    """
    spots = {neighbourhood.entity.id: Spot(0.0, 0.0)}
    angles = {neighbourhood.entity.id: 0.0}
    radius = 0.0
    for ring in neighbourhood.rings:
        parents = _parents(neighbourhood, ring, spots)
        ordered = sorted(ring, key=lambda side: (angles[parents[side.id]], side.name, side.id))
        radius = max(radius + RING, len(ordered) * LEAST_ARC / (2 * math.pi))
        for place, side in enumerate(ordered):
            angle = 2 * math.pi * place / len(ordered)
            angles[side.id] = angle
            spots[side.id] = Spot(radius * math.cos(angle), radius * math.sin(angle))
    return spots


def _parents(neighbourhood: Neighbourhood, ring: Sequence[Side], known: Mapping[UUID, Spot]) -> dict[UUID, UUID]:
    parents: dict[UUID, UUID] = {side.id: neighbourhood.entity.id for side in ring}
    for relation in neighbourhood.relations:
        for here, there in ((relation.subject.id, relation.object.id), (relation.object.id, relation.subject.id)):
            if there in parents and here in known:
                parents[there] = here
    return parents


def svg(neighbourhood: Neighbourhood) -> str:
    """The neighbourhood as an SVG document. Every text is escaped, and long names are cut with an ellipsis."""
    spots = layout(neighbourhood)
    reach = max(max(abs(spot.x), abs(spot.y)) for spot in spots.values()) + MARGIN
    size = f"{2 * reach:.0f}"
    title = _text(neighbourhood.entity.name)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" '
        f'viewBox="{-reach:.0f} {-reach:.0f} {size} {size}" role="img">',
        f"<title>{title}</title><style>{STYLE}</style>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#8a8a95"/></marker></defs>',
        f'<rect x="{-reach:.0f}" y="{-reach:.0f}" width="{size}" height="{size}" fill="#ffffff"/>',
    ]
    between: dict[tuple[UUID, UUID], list[str]] = defaultdict(list)
    for relation in neighbourhood.relations:
        between[relation.subject.id, relation.object.id].append(relation.predicate.replace("_", " "))
    parts += [_edge(spots[one], spots[other], labels) for (one, other), labels in between.items()]
    sides = {neighbourhood.entity.id: (neighbourhood.entity.name, neighbourhood.entity.type)}
    sides |= {side.id: (side.name, side.type) for ring in neighbourhood.rings for side in ring}
    parts += [_node(spots[id_], name, type_) for id_, (name, type_) in sides.items()]
    return "\n".join([*parts, "</svg>\n"])


def _edge(start: Spot, end: Spot, labels: Sequence[str]) -> str:
    """An arrow that stops before the node, and what it means at its middle, turned so as never to stand on its head."""
    length = math.hypot(end.x - start.x, end.y - start.y) or 1.0
    share = max(0.0, 1 - 46 / length)
    x, y = start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share
    middle_x, middle_y = (start.x + end.x) / 2, (start.y + end.y) / 2
    angle = (math.degrees(math.atan2(end.y - start.y, end.x - start.x)) + 90) % 180 - 90
    label = _text(", ".join(dict.fromkeys(labels)), 40)
    return (
        f'<line x1="{start.x:.1f}" y1="{start.y:.1f}" x2="{x:.1f}" y2="{y:.1f}" stroke="#b4b4bd" '
        f'marker-end="url(#arrow)"/><text class="l" text-anchor="middle" dy="-4" '
        f'transform="translate({middle_x:.1f} {middle_y:.1f}) rotate({angle:.1f})">{label}</text>'
    )


def _node(spot: Spot, name: str, type_: str) -> str:
    label = _text(name, LONGEST_LABEL)
    # Ideographs and the like are about twice as wide as letters.
    width = 24 + sum(14 if ord(character) > 0x2E7F else 7.4 for character in name[:LONGEST_LABEL])
    return (
        f'<rect x="{spot.x - width / 2:.1f}" y="{spot.y - 19:.1f}" width="{width:.1f}" height="38" rx="10" '
        f'fill="{FILLS.get(type_, "#e6e6ea")}" stroke="#8a8a95"/>'
        f'<text text-anchor="middle" x="{spot.x:.1f}" y="{spot.y - 1:.1f}">{label}</text>'
        f'<text class="l" text-anchor="middle" x="{spot.x:.1f}" y="{spot.y - 1 + LINE_HEIGHT:.1f}">'
        f"{type_.lower()}</text>"
    )


def _text(text: str, most: int = 200) -> str:
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return escape(NO_XML.sub("\N{REPLACEMENT CHARACTER}", cut))
