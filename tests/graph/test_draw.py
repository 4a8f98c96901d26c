"""An entity's neighbourhood: its rings, the tree and the picture of it, on the command line."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Ebbtide
from ebbtide.errors import InvalidInput
from ebbtide.graph.draw import layout, svg
from tests.graph.test_entities import company, person, says

ODD = 'Ann <b> & "Co" ' + "x" * 60
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def graph(memory: Ebbtide) -> Ebbtide:
    says(memory, "Ann knows Bob", person(ODD), "knows", person("Bob"))
    says(memory, "Bob works at Acme", person("Bob"), "works at", company("Acme"))
    says(memory, "Cid works at Acme", person("Cid"), "works at", company("Acme"))
    says(memory, "Ann likes Acme", person(ODD), "likes", company("Acme"))
    says(memory, "Cid knows Dot", person("Cid"), "knows", person("Dot"))
    return memory


def names(rings: Any) -> list[list[str]]:
    return [[side.name for side in ring] for ring in rings]


def test_what_is_around_an_entity_comes_in_rings(graph: Ebbtide) -> None:
    around = graph.entities.neighbourhood("Dot")
    assert names(around.rings) == [["Cid"], ["Acme"]]
    assert [one.predicate for one in around.relations] == ["works_at", "knows"]
    assert not around.cut
    assert names(graph.entities.neighbourhood("Bob", hops=1).rings) == [[ODD, "Acme"]]
    few = graph.entities.neighbourhood("Bob", limit=1)
    assert few.cut
    assert sum(map(len, few.rings)) == 1
    with pytest.raises(InvalidInput, match="hops"):
        graph.entities.neighbourhood("Bob", hops=3)


def test_the_picture_is_valid_xml_with_every_name_and_apart_from_each_other(graph: Ebbtide) -> None:
    around = graph.entities.neighbourhood("Bob")
    root = ET.fromstring(svg(around))
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert {"Bob", "Acme", "Cid", "knows", "works at", "likes", "person", "company"} <= set(texts)
    assert any(text.startswith('Ann <b> & "Co"') and text.endswith("…") for text in texts)
    spots = list(layout(around).values())
    assert len(spots) == 4
    assert all(abs(one.x - other.x) + abs(one.y - other.y) > 90 for one in spots for other in spots if one is not other)


def test_names_of_any_kind_make_valid_xml(memory: Ebbtide) -> None:
    says(memory, "Odd", person("]]> <!-- \ufffe --> &amp;"), "<x>", person("東京 & \U0001f600"))
    ET.fromstring(svg(memory.entities.neighbourhood("東京 & \U0001f600")))


def test_the_commands_of_the_graph(graph: Ebbtide, dsn: str, run: Any, tmp_path: Path) -> None:
    listed = json.loads(run("entities", "list", "--type", "person", "--json"))
    assert [one["name"] for one in listed["items"]][1:] == ["Bob", "Cid", "Dot"]
    assert "Bob works at Acme" in run("entities", "get", "Bob")
    assert "knows" in run("relations", "list", "--entity", "Dot")
    path = json.loads(run("relations", "path", "Bob", "Dot", "--json"))
    assert [one["name"] for one in path["entities"]] == ["Bob", "Acme", "Cid", "Dot"]
    assert run("relations", "path", "Bob", "Dot", "--max-hops", "1").strip() == "no path"
    merged = json.loads(run("entities", "merge", "Bob", "Cid", "--json"))
    assert "undone" in run("entities", "undo", merged["id"])
    assert "merge undone" in run("entities", "changes")
    assert "add_alias" in run("entities", "add-alias", "Bob", "Bobby")
    assert "remove_alias" in run("entities", "remove-alias", "Bobby", "Bobby")
    tree = run("graph", "show", "Dot")
    assert tree.splitlines()[0] == "Dot  person"
    assert "← knows  Cid  person" in tree
    assert "→ works_at  Acme  company" in tree
    file = tmp_path / "dot.svg"
    shown = json.loads(run("graph", "show", "Dot", "--svg", str(file), "--json"))
    assert [[side["name"] for side in ring] for ring in shown["rings"]] == [["Cid"], ["Acme"]]
    assert ET.fromstring(file.read_text(encoding="utf-8")).tag == f"{SVG}svg"


@pytest.fixture
def run(dsn: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command line on the test's store and answers with what it printed."""
    from ebbtide.cli import main

    def ran(*arguments: str) -> str:
        code = main([*arguments, "--store", dsn, "--embedder", "fake"])
        printed = capsys.readouterr()
        assert code == 0, printed.out + printed.err
        return printed.out

    return ran
