"""Passages: all that is seen is in one, none is too long, the headings are right, and an edit changes what is near."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.ingest.chunk import Passage, chunked
from ebbtide.ingest.markdown import markdown_blocks, paragraph_blocks


def words(text: str) -> int:
    return len(text.split())


def passages_of(text: str, limit: int = 40, title: str | None = None) -> list[Passage]:
    return list(chunked(markdown_blocks(enumerate(text.split("\n"), 1)), words, limit, title=title))


def text_of(count: int, start: int = 0) -> str:
    return " ".join(f"w{number}" for number in range(start, start + count))


class Page:
    """Markdown of words that each stand once, and the headings under which each stands."""

    def __init__(self, parts: Sequence[tuple[str, int, int]]) -> None:
        self.lines: list[str] = []
        self.above: dict[str, tuple[str, ...]] = {}
        self.number = 0
        path: list[tuple[int, str]] = []
        for sort, level, count in parts:
            made = self.words(count)
            if sort == "heading":
                path = [one for one in path if one[0] < level] + [(level, " ".join(made))]
                self.lines += [f"{'#' * level} {' '.join(made)}", ""]
            else:
                self.lines += [*self.block(sort, made), ""]
            self.above |= dict.fromkeys(made, tuple(text for _, text in path))

    def words(self, count: int) -> list[str]:
        self.number += count
        return [f"w{number}" for number in range(self.number - count, self.number)]

    @staticmethod
    def block(sort: str, made: list[str]) -> list[str]:
        rows = [made[start : start + 3] for start in range(0, len(made), 3)]
        if sort == "list":
            return [f"- {' '.join(row)}" for row in rows]
        if sort == "code":
            return ["```", *(f"  {' '.join(row)}" for row in rows), "```"]
        if sort == "table":
            return ["| a | b |", "|---|---|", *(f"| {' '.join(row)} | x |" for row in rows)]
        return [" ".join(made)]

    @property
    def said(self) -> set[str]:
        """The words that are in no heading."""
        return set(self.above) - {word for line in self.lines if line.startswith("#") for word in line.split()}

    @property
    def headed(self) -> set[str]:
        """The words of headings that have text below them."""
        return {word for one in self.said for text in self.above[one] for word in text.split()}

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


parts = st.lists(
    st.tuples(st.sampled_from(["heading", "text", "list", "code", "table"]), st.integers(1, 4), st.integers(1, 60)),
    max_size=12,
).map(lambda found: [(sort, level, min(count, 70 if sort != "heading" else 9)) for sort, level, count in found])


@settings(deadline=None)
@given(parts, st.integers(24, 80))
def test_nothing_is_lost_and_nothing_is_too_long(given_parts: list[tuple[str, int, int]], limit: int) -> None:
    page = Page(given_parts)
    found = passages_of(page.text, limit)
    assert all(words(one.text) <= limit for one in found)
    assert {word for one in found for word in one.text.split()} >= page.said | page.headed
    assert passages_of(page.text, limit) == found


@settings(deadline=None)
@given(parts, st.integers(24, 80))
def test_every_word_stands_below_its_headings(given_parts: list[tuple[str, int, int]], limit: int) -> None:
    page = Page(given_parts)
    shown = {word for one in page.above.values() for text in one for word in text.split()}
    for one in passages_of(page.text, limit):
        body = [word for word in one.text.split() if word in page.above and word not in shown]
        assert all(page.above[word] == one.headings for word in body)


@settings(deadline=None)
@given(parts, st.integers(24, 80))
def test_places_are_where_the_words_stand(given_parts: list[tuple[str, int, int]], limit: int) -> None:
    page = Page(given_parts)
    lines = {word: number for number, line in enumerate(page.lines, 1) for word in line.split() if word in page.above}
    heads = {word for line in page.lines if line.startswith("#") for word in line.split()}
    for one in passages_of(page.text, limit):
        stand = [lines[word] for word in one.text.split() if word in lines and word not in heads]
        assert all(one.first <= line <= one.last for line in stand)
        assert 1 <= one.first <= one.last <= len(page.lines)


@settings(deadline=None)
@given(st.lists(st.integers(5, 60), min_size=2, max_size=8), st.data())
def test_an_edit_changes_its_own_section_alone(sizes: list[int], data: st.DataObject) -> None:
    sections = [[text_of(size, 1_000 * place), text_of(size, 1_000 * place + 500)] for place, size in enumerate(sizes)]
    edited = data.draw(st.integers(0, len(sizes) - 1))

    def page() -> set[str]:
        text = "\n\n".join(f"## h{place}\n\n" + "\n\n".join(section) for place, section in enumerate(sections))
        return {one.text for one in passages_of(text)}

    before = page()
    sections[edited][0] += " and one word more"
    assert all(one.startswith(f"h{edited}\n") for one in before ^ page())


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, 299), st.sampled_from(["insert", "delete", "change"]))
def test_in_a_long_text_without_headings_an_edit_stays_local(seed: int, at: int, deed: str) -> None:
    chance = random.Random(seed)
    paragraphs = [" ".join(f"{chance.randrange(10**6)}" for _ in range(chance.randint(5, 30))) for _ in range(300)]

    def made() -> list[str]:
        lines = "\n\n".join(paragraphs).split("\n")
        return [one.text for one in chunked(paragraph_blocks(enumerate(lines, 1)), words, 60)]

    before = made()
    if deed == "insert":
        paragraphs.insert(at, "something new here")
    elif deed == "delete":
        del paragraphs[at]
    else:
        paragraphs[at] += " changed"
    changed = set(made()) - set(before)
    assert 1 <= len(changed) <= 30 or deed == "delete"
    assert len(before) > 60


def test_the_breadcrumb_is_the_first_line() -> None:
    found = passages_of("# Guide\n\nHello.\n\n## Setup\n\n### Linux\n\nUse apt.\n\n## Use\n\nRun it.\n")
    assert [one.text for one in found] == [
        "Guide\n\nHello.", "Guide > Setup > Linux\n\nUse apt.", "Guide > Use\n\nRun it.",
    ]  # fmt: skip
    assert [(one.first, one.last) for one in found] == [(1, 3), (5, 9), (11, 13)]


def test_a_title_stands_above_unless_the_first_heading_says_it() -> None:
    assert [one.text for one in passages_of("Hello.", title="Guide")] == ["Guide\n\nHello."]
    assert [one.headings for one in passages_of("# Guide\n\nHello.", title="Guide – A site")] == [("Guide",)]
    assert [one.headings for one in passages_of("# Start\n\nHello.", title="Guide")] == [("Guide", "Start")]


def test_a_heading_alone_is_no_passage() -> None:
    assert [one.text for one in passages_of("# One\n\n# Two\n\ntext\n\n## Last\n")] == ["Two\n\ntext"]
    assert [one.text for one in passages_of("# One\n\n## Empty\n\n## Two\n\ntext")] == ["One > Two\n\ntext"]
    assert passages_of("# Empty") == passages_of("# One\n\n## Two\n\n# Three", title="Guide") == []


def test_a_long_heading_is_cut_in_the_breadcrumb_and_whole_in_the_text() -> None:
    heading = text_of(30)
    (found,) = passages_of(f"# {heading}\n\nbody", limit=60)
    assert set(heading.split()) <= set(found.text.split())
    assert found.headings == (heading,)


def test_code_that_fits_is_never_cut() -> None:
    code = "```python\n" + "\n".join(f"a{number} = {number}" for number in range(8)) + "\n```"
    text = "\n\n".join([text_of(30), code, text_of(30, 100), code.replace("a", "b"), text_of(39, 200)])
    for one in passages_of(text):
        assert one.text.count("```") % 2 == 0
    assert sum(code in one.text for one in passages_of(text)) == 1


def test_code_that_does_not_fit_is_cut_between_lines_and_stays_code() -> None:
    lines = [f"line {number} of code" for number in range(40)]
    found = passages_of("```python\n" + "\n".join(lines) + "\n```")
    assert len(found) > 1
    kept: list[str] = []
    for one in found:
        assert one.text.startswith("```python\n")
        assert one.text.endswith("\n```")
        kept += one.text.split("\n")[1:-1]
    assert kept == lines


def test_a_table_that_does_not_fit_is_cut_between_rows_under_its_head() -> None:
    rows = [f"| {number} | some words here |" for number in range(30)]
    found = passages_of("| n | what |\n|---|---|\n" + "\n".join(rows))
    assert len(found) > 1
    assert all(one.text.startswith("| n | what |\n|---|---|\n| ") for one in found)
    assert [row for one in found for row in one.text.split("\n")[2:]] == rows


def test_code_within_a_list_is_not_cut() -> None:
    code = "\n".join(["  ```", *(f"  step {number}" for number in range(6)), "  ```"])
    text = f"- {text_of(35)}\n\n{code}\n\n  {text_of(35, 100)}\n- last"
    assert all(one.text.count("```") % 2 == 0 for one in passages_of(text))


def test_one_huge_line_is_cut_at_words_and_then_between_characters() -> None:
    found = list(chunked(paragraph_blocks([(1, "x" * 10_000)]), words, 40))
    assert {len(one.text) <= 640 for one in found} == {True}
    assert "".join(one.text for one in found) == "x" * 10_000
