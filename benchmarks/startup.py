"""How long it takes to import Ebbtide and to open a store, and how large the installed environment is."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks._measure import Figure, show
from ebbtide import Ebbtide

REPEATS = 7


def import_seconds() -> float:
    """The median time that a fresh interpreter takes for `import ebbtide`, its own start not included."""
    timed = "import time; started = time.perf_counter(); import ebbtide; print(time.perf_counter() - started)"
    runs = [
        subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
        for _ in range(REPEATS)
    ]
    return median(float(run.stdout) for run in runs)


def installed_megabytes() -> float:
    """The size of Ebbtide and everything that a plain `pip install ebbtide` brings with it."""
    seen: set[str] = set()
    wanted = ["ebbtide"]
    total = 0
    while wanted:
        name = re.sub(r"[-_.]+", "-", wanted.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        paths = (Path(str(file.locate())) for file in distribution.files or ())
        total += sum(path.stat().st_size for path in paths if path.is_file())
        requirements = distribution.requires or ()
        wanted += [re.split(r"[^\w.-]", requirement)[0] for requirement in requirements if is_needed(requirement)]
    package = Path(str(importlib.metadata.distribution("ebbtide").locate_file("")))
    return (total + source_bytes(package)) / 1e6


def is_needed(requirement: str) -> bool:
    """Whether a requirement belongs to the plain installation: no extra of Ebbtide's, no other platform's."""
    return "extra ==" not in requirement and "win32" not in requirement


def source_bytes(package: Path) -> int:
    """The size of the package itself, which an editable installation does not list."""
    import ebbtide

    folder = Path(ebbtide.__file__).parent
    if package in folder.parents:
        return 0
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def open_seconds(location: Path) -> float:
    """How long opening takes, until the handle can be used."""
    started = time.perf_counter()
    with Ebbtide.open(location, embedder="local"):
        return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="ebbtide-benchmark-") as folder:
        cold = [open_seconds(Path(folder) / f"{number}") for number in range(3)]
        warm = [open_seconds(Path(folder) / "0") for _ in range(REPEATS)]
        with Ebbtide.open(Path(folder) / "1", embedder="local"):
            beside = [open_seconds(Path(folder) / "1") for _ in range(REPEATS)]
    figures = [
        Figure("import ebbtide", import_seconds(), "s", 0.6),
        Figure("the installed environment", installed_megabytes(), "MB", 400),
        Figure("cold open: a folder that is no store yet", median(cold), "s", 3.0),
        Figure("warm open: the server is down", median(warm), "s", 0.5),
        Figure("    the server is up", median(beside), "s", 0.5),
    ]
    show("Starting", figures)


if __name__ == "__main__":
    main()
