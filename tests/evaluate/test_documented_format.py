"""The data set in the documentation is read as printed."""

from __future__ import annotations

import re
from pathlib import Path

from ebbtide.evaluate.datasets import load_dataset

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def test_the_example_is_a_data_set(tmp_path: Path) -> None:
    found = re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    path = tmp_path / "shop.json"
    path.write_text(found[1], encoding="utf-8")
    [scope] = load_dataset(path)
    assert (scope.name, len(scope.items)) == ("bicycle-shop", 4)
    assert [question.measurable for question in scope.questions] == [True, True, False]
