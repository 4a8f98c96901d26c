"""A real cross-encoder of a few hundred bytes: its logit is how many words query and document share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

WORDS = ("ferry", "leaves", "at", "seven", "when", "does", "the", "ana", "likes", "oranges", "glacier")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
FLOAT, INT64, INT32 = 1, 7, 6
ALL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def field(number: int, value: int | str | bytes) -> bytes:
    """A varint field for a number, a length-delimited one for the rest."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    encoded = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(encoded)) + encoded


def tensor(name: str, values: np.ndarray) -> bytes:
    kind = FLOAT if values.dtype == np.float32 else INT64
    dimensions = b"".join(field(1, size) for size in values.shape)
    return field(5, dimensions + field(2, kind) + field(8, name) + field(9, values.tobytes()))


def port(number: int, name: str, kind: int, dimensions: Sequence[str]) -> bytes:
    shape = b"".join(field(1, field(2, dimension)) for dimension in dimensions)
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + field(2, shape))))


def node(operator: str, inputs: Sequence[str], output: str, **attributes: int | Sequence[int]) -> bytes:
    body = b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, operator)
    for name, value in attributes.items():
        kind = field(3, value) + field(20, 2) if isinstance(value, int) else b"".join(field(8, one) for one in value)
        body += field(5, field(1, name) + kind + (b"" if isinstance(value, int) else field(20, 7)))
    return field(1, body)


def model(outputs: int = 1, *, inputs: Sequence[str] = ALL_INPUTS, kind: int = INT64, scale: float = 1.0) -> bytes:
    """A model with so many logits a pair, as an ONNX file in protobuf's wire form.

    Written field by field, so that no test needs the package that usually writes it.
    """
    table = np.zeros((len(SPECIAL) + len(WORDS), len(WORDS)), dtype=np.float32)
    table[len(SPECIAL) :] = np.eye(len(WORDS), dtype=np.float32)
    given = {name: name if name in inputs else "input_ids" for name in ALL_INPUTS}
    nodes = [
        node("Gather", ["table", "input_ids"], "words", axis=0),
        node("Cast", [given["attention_mask"]], "mask", to=FLOAT),
        node("Cast", [given["token_type_ids"]], "types", to=FLOAT),
        node("Mul", ["mask", "types"], "of_document"),
        node("Sub", ["mask", "of_document"], "of_query"),
        node("Unsqueeze", ["of_query", "one"], "query_row"),
        node("Unsqueeze", ["of_document", "one"], "document_row"),
        node("MatMul", ["query_row", "words"], "query"),
        node("MatMul", ["document_row", "words"], "document"),
        node("Transpose", ["document"], "document_column", perm=[0, 2, 1]),
        node("MatMul", ["query", "document_column"], "shared"),
        node("Squeeze", ["shared", "one"], "squeezed"),
        node("Mul", ["squeezed", "scale"], "logit"),
        node("Sub", ["logit", "logit"], "nothing"),
        node("Concat", [*["nothing"] * (outputs - 1), "logit"], "logits", axis=1),
    ]
    constants = [
        tensor("table", table),
        tensor("one", np.array([1], dtype=np.int64)),
        tensor("scale", np.array([scale], dtype=np.float32)),
    ]
    ports = [port(11, name, kind, ("pairs", "tokens")) for name in inputs]
    graph = [*nodes, field(2, "tiny"), *constants, *ports, port(12, "logits", FLOAT, ("pairs", "classes"))]
    return field(1, 8) + field(7, b"".join(graph)) + field(8, field(1, "") + field(2, 17))


def write_tokenizer(file: Path) -> None:
    """A tokenizer of whole words that marks a pair as BERT does."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    ids = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
    tokenizer = Tokenizer(WordLevel(ids, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
    )
    tokenizer.save(str(file))


def write_cross_encoder(folder: Path, onnx: bytes | None = None) -> Path:
    """A folder as `OnnxReranker` takes it."""
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(model() if onnx is None else onnx)
    write_tokenizer(folder / "tokenizer.json")
    return folder
