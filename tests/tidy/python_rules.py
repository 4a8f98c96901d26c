"""Rules for Python source; each takes a file's text and yields the lines that break it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.tidy.tree import Finding

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70

STATEMENT = re.compile(
    r"\s*(?:(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|COPY|MERGE|TRUNCATE|GRANT|REVOKE)\b.+"
    r"|(?i:select\b.+\bfrom\b|insert\s+into\b|update\s+\w+\s+set\b|delete\s+from\b|(?:create|alter|drop)\s+(?:table|index)\b))",
    re.DOTALL,
)
SESSION_COMMAND = re.compile(
    r"\s*(?:SET|RESET|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|LISTEN|NOTIFY|SHOW|ANALYZE|VACUUM)\b.+", re.DOTALL
)

CLOCK_READS = {
    ("datetime", "now"),
    ("datetime", "today"),
    ("datetime", "utcnow"),
    ("date", "today"),
    ("time", "time"),
    ("time", "time_ns"),
    ("time", "localtime"),
    ("time", "gmtime"),
}
# Errors that say, or carry, the value that they are about.
TELLING = {
    "AttributeError",
    "DataError",
    "IndexError",
    "IntegrityError",
    "JSONDecodeError",
    "KeyError",
    "OverflowError",
    "ProgrammingError",
    "RecursionError",
    "TypeError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UniqueViolation",
    "ValidationError",
    "ValueError",
}
UNFINISHED = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK|WIP|NotImplementedError|(?i:stubs?|unimplemented|not (?:yet )?implemented))\b"
)
SUPPRESSION = re.compile(r"(?:noqa|pyright|type)\s*:\s*[\w\[\], ]*")


def file_is_short(source: str) -> Iterator[Finding]:
    count = len(source.splitlines())
    if count > MAX_FILE_LINES:
        yield count, f"the file has {count} lines; at most {MAX_FILE_LINES}"


def functions_are_short(source: str) -> Iterator[Finding]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            if count > MAX_FUNCTION_LINES:
                yield node.lineno, f"{node.name} has {count} lines; at most {MAX_FUNCTION_LINES}"


def holds_no_statement(source: str) -> Iterator[Finding]:
    for line, text in _strings(ast.parse(source)):
        if STATEMENT.match(text):
            yield line, f"SQL belongs in a .sql file: {text.strip()[:60]!r}"


def holds_no_session_command(source: str) -> Iterator[Finding]:
    for line, text in _strings(ast.parse(source)):
        if SESSION_COMMAND.match(text):
            yield line, f"only db/ speaks to the session: {text.strip()[:60]!r}"


def reads_no_clock(source: str) -> Iterator[Finding]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
                if (owner, name) in CLOCK_READS:
                    yield node.lineno, f"{owner}.{name} reads the clock; take `now` as a parameter"
            case ast.ImportFrom(module="time", names=names):
                for name in names:
                    if ("time", name.name) in CLOCK_READS:
                        yield node.lineno, f"time.{name.name} reads the clock; take `now` as a parameter"
            case _:
                pass


def prints_nothing(source: str) -> Iterator[Finding]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield node.lineno, "only the command line prints"


def broad_excepts_have_reasons(source: str) -> Iterator[Finding]:
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        if node.type is None:
            yield node.lineno, "a bare except catches even the wish to stop; name what is caught"
        elif _swallows_all(node) and not any(_is_reason(line) for line in lines[node.lineno - 2 : node.lineno + 1]):
            yield node.lineno, "catching everything needs a comment that says why"


def causes_tell_no_value(source: str) -> Iterator[Finding]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler) and (telling := _caught(node) & TELLING):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Raise) and isinstance(inner.cause, ast.Name) and inner.cause.id == node.name:
                    yield inner.lineno, f"a {min(telling)} may hold what was said; raise `from None`"


def opens_with_one_line(source: str) -> Iterator[Finding]:
    if not source.strip():
        return
    docstring = ast.get_docstring(ast.parse(source), clean=False)
    if not docstring:
        yield 1, "the module does not say in a docstring what it is for"
    elif "\n" in docstring:
        yield 1, "the module's docstring is one line; the rest belongs to what it describes"


def says_nothing_is_unfinished(source: str) -> Iterator[Finding]:
    for number, line in enumerate(source.splitlines(), start=1):
        if found := UNFINISHED.search(line):
            yield number, f"{found.group()} announces unfinished work; finish it or leave it out"


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and text of every string literal that is no docstring, the literal parts of f-strings included."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.lineno, node.value


def _caught(handler: ast.ExceptHandler) -> set[str]:
    """The names of the errors that a handler catches, without their modules."""
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(name).rpartition(".")[2] for name in names if name is not None}


def _swallows_all(handler: ast.ExceptHandler) -> bool:
    """Whether the handler catches every error and does not end by raising the same one again."""
    broad = bool(_caught(handler) & {"Exception", "BaseException"})
    last = handler.body[-1]
    return broad and not (isinstance(last, ast.Raise) and last.exc is None)


def _is_reason(line: str) -> bool:
    """Whether the line's comment says anything beside which checker to silence."""
    comment = line.partition("#")[2]
    return len(re.findall(r"\w{2,}", SUPPRESSION.sub("", comment))) >= 3
