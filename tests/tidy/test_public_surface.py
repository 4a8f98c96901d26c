"""The names a user may rely on: listed, sorted, documented, and light to import."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import ebbtide
from tests.tidy.tree import assert_none

HEAVY = ("httpx", "markdown_it", "onnxruntime", "procrastinate", "pypdf", "rich", "tokenizers")

PUBLIC = """
    AsyncEbbtide AuditCheck AuditEntry Branch Candidate Chat Classification Consolidation ContextBlock Dispute
    Document Draft Ebbtide EbbtideError EffectivePolicy Engagement Entity EntityChange EntityPage Episode
    Erasure Explanation Extracted Extraction Filter Forgetting Found GraphPath Hit Hold Imported Ingested
    IngestedFile Job MarkdownExport Memory Mentioned Merge Named Neighbourhood Omission Page Passage Policy Profile
    Provenance Recall Receipt ReceiptCheck Reconciliation Rejected Related Relation Relevance Remembered Routing
    Rule RulePreview RuledHit Settings TagFilter Trace TuneScores Tuned Turn Version classify decompose
    recall_probability reciprocal_rank_fusion relevance where
"""


def undocumented(module: ModuleType) -> list[str]:
    """The public names of `module`, and the public methods of its classes, that no docstring explains."""
    missing: list[str] = []
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, str):
            continue
        # A docstring that a class merely inherits says nothing about it.
        if not (value.__dict__.get("__doc__") if isinstance(value, type) else value.__doc__):
            missing.append(name)
        if isinstance(value, type):
            members = ((member, found) for member, found in vars(value).items() if not member.startswith("_"))
            missing += [f"{name}.{member}" for member, found in members if callable(found) and not found.__doc__]
    return missing


def test_the_public_names() -> None:
    assert ebbtide.__all__ == PUBLIC.split()


def test_the_list_is_sorted_and_names_each_once() -> None:
    assert list(ebbtide.__all__) == sorted(set(ebbtide.__all__))


def test_nothing_else_looks_public() -> None:
    values = {name for name, value in vars(ebbtide).items() if not isinstance(value, ModuleType)}
    public = {name for name in values if not name.startswith("_")}
    assert public - {*ebbtide.__all__, "annotations", "TYPE_CHECKING"} == set()


def test_every_public_name_is_documented() -> None:
    assert_none(undocumented(ebbtide))


def test_an_undocumented_name_is_found() -> None:
    module = ModuleType("example")
    exec(  # the example must be a module of its own
        'class Plain(ValueError):\n    def act(self): ...\ndef explained():\n    """Says so."""\n'
        '__all__ = ["Plain", "explained"]',
        module.__dict__,
    )
    assert undocumented(module) == ["Plain", "Plain.act"]


def test_importing_loads_nothing_heavy() -> None:
    program = f"import sys, ebbtide; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == []
