"""docs/settings.md says what the settings say of themselves."""

from __future__ import annotations

from tests.docs.settings_page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m tests.docs.settings_page"
