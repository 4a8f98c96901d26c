"""The command line, `ebbtide`: a thin face over the handle, for people and for scripts."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; answers with the exit code, 130 where it was interrupted, while it was loaded too."""
    try:
        from ebbtide.cli import app
    except KeyboardInterrupt:
        # Nothing is loaded yet that could write it, least of all what was being loaded.
        said = "Interrupted; nothing was stored."
        if "--json" in (sys.argv[1:] if arguments is None else arguments):
            shape = '{"error": {"code": "interrupted", "message": "%s", "field": null, "remedy": null}}'
            sys.stdout.write(shape % said + "\n")
        else:
            sys.stderr.write(said + "\n")
        return 130
    return app.main(arguments)
