"""The page of settings, made of their descriptions. `python -m tests.docs.settings_page` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic.fields import FieldInfo

from ebbtide.settings import PREFIX, Settings
from tests.tidy.tree import ROOT

PAGE = ROOT / "docs" / "settings.md"

HEAD = """# Settings

Facts of a deployment, and limits. Each is an environment variable, and a keyword of the `Settings` that
`Ebbtide.open` takes:

```python
from ebbtide import Ebbtide, Settings

settings = Settings(max_content_characters=20_000)
with Ebbtide.open("./memory", settings=settings) as memory:
    memory.remember("Settings are given once, when a store is opened.")
```

How memories are ranked is not a setting: that is a profile, see `ebbtide profiles list`.

| variable | default | range | what it decides |
|---|---|---|---|
"""

SIGNS = (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<"))


def rows() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        default = "unset" if field.default is None else f"`{str(field.default).lower()}`"
        yield f"| `{PREFIX}{name.upper()}` | {default} | {limits(field)} | {field.description} |\n"


def limits(field: FieldInfo) -> str:
    """The bounds of a number, such as `≥ 1, ≤ 64`; nothing for others."""
    bounds = {sign: getattr(limit, name) for limit in field.metadata for name, sign in SIGNS if hasattr(limit, name)}
    return ", ".join(f"{sign} {bound:,}" for sign, bound in bounds.items())


def page() -> str:
    return HEAD + "".join(rows())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
