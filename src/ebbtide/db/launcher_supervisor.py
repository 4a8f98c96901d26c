"""The small process that starts an embedded PostgreSQL and stops it when nobody uses its folder any more."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
import time
from typing import NamedTuple

# This file also runs as a script, without site-packages and beside the server for all its life: it
# imports nothing of Ebbtide, and of the standard library only what weighs little. Nor does it import anything later
# on: it drops root's privileges, and without them it may not reach the interpreter's own files.
# pathlib would weigh as much as all the rest.
# ruff: noqa: PTH106, PTH110, PTH115, PTH116, PTH118, PTH119, PTH208
#
# The folder's three locks, each a flock, which the kernel drops when its holder dies in whatever way:
#   .lock   exclusive, while somebody starts, joins, leaves or stops the server
#   .users  shared, one for each EmbeddedServer that is started; exclusive, by the supervisor, once all have left
#   data/   exclusive, inherited by every process of the server: held for as long as one of them lives

LOCK_FILE = ".lock"
USERS_FILE = ".users"
LOG_FILE = "postgres.log"
DATA_DIRECTORY = "data"
SOCKET_DIRECTORY_PREFIX = "ebbtide-"

STOP_PATIENCE_SECONDS = 60.0
LOG_LIMIT_BYTES = 16 * 1024 * 1024
LOG_KEPT_BYTES = 1024 * 1024
LOG_CHECK_SECONDS = 300.0

# Of the frontend/backend protocol 3.0, what opens a session, ends one, and what the server says in between.
_PARAMETERS = b"user\0ebbtide\0database\0postgres\0\0"
STARTUP_MESSAGE = (len(_PARAMETERS) + 8).to_bytes(4, "big") + (3 << 16).to_bytes(4, "big") + _PARAMETERS
READY_FOR_QUERY = b"Z\0\0\0\5I"
TERMINATE = b"X\0\0\0\4"
CANNOT_CONNECT_NOW = b"C57P03\0"
PROBE_SECONDS = 5.0

_PROCESSES = "/proc"
_HAS_PROCESSES = os.path.exists(f"{_PROCESSES}/self/fd")


class Postmaster(NamedTuple):
    """What `postmaster.pid` says of the server; its status is `starting`, `ready` or `stopping`."""

    pid: int
    port: int
    socket_directory: str
    status: str

    @property
    def socket(self) -> str:
        """The path of the server's socket."""
        return f"{self.socket_directory}/.s.PGSQL.{self.port}"


def try_lock(descriptor: int, operation: int) -> bool:
    """Take the flock `LOCK_SH` or `LOCK_EX` without waiting; whether it was granted."""
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def open_directory(path: str) -> int:
    """A new descriptor of the directory at `path`, which must not be a symbolic link."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def server_runs(data: int) -> bool:
    """Whether a process of a server that we started still lives; `data` is a descriptor of the data directory.

    Asks for the lock that the server's processes share, not for a process id: no reused id and no zombie deceives.
    """
    if not try_lock(data, fcntl.LOCK_SH):
        return True
    fcntl.flock(data, fcntl.LOCK_UN)
    return False


def read_postmaster(data: int) -> Postmaster | None:
    """What `postmaster.pid` in the data directory says, or None while it is absent or half written."""
    try:
        descriptor = os.open("postmaster.pid", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=data)
    except FileNotFoundError:
        return None
    try:
        lines = os.fsdecode(os.read(descriptor, 8192)).split("\n")
    finally:
        os.close(descriptor)
    # Lines: process id, data directory, start time, port, socket directory, listen address, shared memory, status.
    if len(lines) < 8 or not (lines[0].isdigit() and lines[3].isdigit()):
        return None
    return Postmaster(int(lines[0]), int(lines[3]), lines[4], lines[7].strip())


def accepts_connections(postmaster: Postmaster) -> bool:
    """Whether the server lets a session begin; it does not while it starts, recovers or stops.

    `postmaster.pid` does not tell: its status stays `ready` while the server recovers from the crash of a session.
    Being refused for who we are counts as yes.
    """
    answer = b""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PROBE_SECONDS)
        try:
            connection.connect(postmaster.socket)
            connection.sendall(STARTUP_MESSAGE)
            while not answer.startswith(b"E") and not answer.endswith(READY_FOR_QUERY):
                part = connection.recv(8192)
                if not part:
                    return False
                answer += part
            connection.sendall(TERMINATE)
        except OSError:
            return answer.startswith(b"E") and CANNOT_CONNECT_NOW not in answer
    return CANNOT_CONNECT_NOW not in answer


def server_processes(data: int) -> list[int]:
    """The ids of the living processes of any server over this data directory.

    A server's processes all work inside its data directory. Without /proc the file's word must do.
    """
    if not _HAS_PROCESSES:
        postmaster = read_postmaster(data)
        return [postmaster.pid] if postmaster else []
    directory = os.fstat(data)
    return [int(name) for name in os.listdir(_PROCESSES) if name.isdigit() and _serves(name, directory)]


def _serves(process: str, directory: os.stat_result) -> bool:
    try:
        program = os.path.basename(os.readlink(f"{_PROCESSES}/{process}/exe"))
        return program.startswith("postgres") and os.path.samestat(os.stat(f"{_PROCESSES}/{process}/cwd"), directory)
    except OSError:
        # It has ended meanwhile, or belongs to somebody else.
        return False


def stop_server(data: int, patience_seconds: float = STOP_PATIENCE_SECONDS) -> bool:
    """Stop the server over the data directory, and wait until none of its processes is left; whether that came about.

    Asks for a fast shutdown: sessions are cut, everything is written. A server that is still starting, and one that has
    used up half of the patience, is asked for an immediate one, from which the next start recovers. The caller holds
    the folder's lock.
    """
    postmaster = read_postmaster(data)
    # PostgreSQL 18 hangs when asked for a fast shutdown in the middle of a recovery.
    fast = postmaster is not None and (postmaster.status == "stopping" or accepts_connections(postmaster))
    begin = time.monotonic()
    signal_again_at = begin
    while server_runs(data):
        now = time.monotonic()
        if now >= begin + patience_seconds:
            return False
        if now >= signal_again_at:
            _signal_server(data, signal.SIGINT if fast and now < begin + patience_seconds / 2 else signal.SIGQUIT)
            signal_again_at = now + 0.5
        time.sleep(0.005)
    if postmaster:
        remove_socket_directory(postmaster.socket_directory)
    return True


def remove_socket_directory(path: str) -> None:
    """Remove the run-time directory of a server that has ended, unless something was left in it."""
    if not os.path.basename(path).startswith(SOCKET_DIRECTORY_PREFIX):
        return
    try:
        os.rmdir(path)
    except OSError:
        # A killed server left its socket there; the next start clears it.
        return


def _signal_server(data: int, signal_number: int) -> None:
    processes = server_processes(data)
    postmaster = read_postmaster(data)
    if postmaster and postmaster.pid in processes:
        processes = [postmaster.pid]
    else:
        # Its head was killed: nothing that the others still do will ever be acknowledged, so they may go at once.
        signal_number = signal.SIGQUIT
    for process in processes:
        try:
            os.kill(process, signal_number)
        except ProcessLookupError:
            continue


def trim_log(descriptor: int) -> None:
    """Keep only the last part of the log once it is over its limit; its writers append, so they need not know."""
    size = os.fstat(descriptor).st_size
    if size <= LOG_LIMIT_BYTES:
        return
    kept = os.pread(descriptor, LOG_KEPT_BYTES, size - LOG_KEPT_BYTES)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, kept[kept.find(b"\n") + 1 :])


def supervise(folder: str, uid: int, gid: int, postgres: str, options: list[str]) -> None:
    """Start the server in the background as that OS user, and return in the calling process only.

    The background process waits until no program is attached to the folder, then stops the server. It ends with the
    server. Its own death harms nothing: the programs, too, stop the server when the last of them leaves.
    Standard output and error are the log.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    # Everything is opened before the privileges are dropped: the folder may lie where that user cannot reach.
    lock = os.open(os.path.join(folder, LOCK_FILE), os.O_RDWR | os.O_NOFOLLOW)
    users = os.open(os.path.join(folder, USERS_FILE), os.O_RDWR | os.O_NOFOLLOW)
    path = os.path.join(folder, DATA_DIRECTORY)
    data, inherited = open_directory(path), open_directory(path)
    fcntl.flock(inherited, fcntl.LOCK_EX)
    if os.fork():
        return
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: os._exit(0))
    if os.fork() == 0:
        # The link in /proc leads straight to the open directory, past parents which that user may not enter.
        location = f"{_PROCESSES}/self/fd/{inherited}" if _HAS_PROCESSES else path
        _become(inherited, postgres, [postgres, "-D", location, *options])
    os.close(inherited)
    signal.signal(signal.SIGALRM, lambda _number, _frame: trim_log(2))
    signal.setitimer(signal.ITIMER_REAL, LOG_CHECK_SECONDS, LOG_CHECK_SECONDS)
    # From here on `.users` stays ours: a program that wants to join must wait until this server is gone.
    fcntl.flock(users, fcntl.LOCK_EX)
    fcntl.flock(lock, fcntl.LOCK_EX)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    stop_server(data)
    os._exit(0)


def _become(inherited: int, program: str, command: list[str]) -> None:
    # Python ignores these two, and an ignored signal stays ignored in the program that follows.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.set_inheritable(inherited, True)
    try:
        os.execv(program, command)
    except OSError as exc:
        os.write(2, os.fsencode(f"{program}: {exc.strerror}\n"))
    os._exit(127)


if __name__ == "__main__":
    supervise(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:])
