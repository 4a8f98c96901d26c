"""What is asked of an embedded server that root starts."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from ebbtide.db import launcher_account
from ebbtide.db.embedded import EmbeddedServer, find_binaries
from tests.db.embedded_programs import PROGRAM, SOURCES, directory, postmaster, query, runs

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root drops privileges")


def test_runs_unprivileged_and_opens_up_nothing(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    places = [closed, *closed.parents]
    before = [(place.stat().st_mode, place.stat().st_uid) for place in places]
    server = EmbeddedServer(closed / "store")
    server.start()
    assert [(place.stat().st_mode, place.stat().st_uid) for place in places] == before
    assert stat.S_IMODE((closed / "store").stat().st_mode) == 0o700
    with directory(closed / "store/data") as data:
        assert os.fstat(data).st_uid != 0
        assert Path(f"/proc/{postmaster(closed / 'store')}").stat().st_uid == os.fstat(data).st_uid
    server.stop()


def test_another_user_cannot_connect(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "store")
    dsn = server.start()
    sockets = Path(str(conninfo_to_dict(dsn)["host"]))
    command = [find_binaries() / "psql", dsn, "-c", "SELECT 1"]
    nobody = pwd.getpwnam("nobody")
    attempt = subprocess.run(command, user=nobody.pw_uid, capture_output=True, text=True, check=False)
    assert "Permission denied" in attempt.stderr
    # And were the directory open, the server itself would refuse.
    sockets.chmod(0o755)
    (sockets / ".s.PGSQL.5432").chmod(0o777)
    attempt = subprocess.run(command, user=nobody.pw_uid, capture_output=True, text=True, check=False)
    assert "Peer authentication failed" in attempt.stderr
    server.stop()


def test_unreachable_binaries_are_copied_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Path("/var/tmp") / f"ebbtide-test-{os.getpid()}"
    monkeypatch.setattr(launcher_account, "BINARIES_CACHE", cache)
    package = find_binaries().parents[1]
    private = tmp_path / package.name
    subprocess.run(["cp", "-a", package, package.with_name(f"{package.name}.libs"), tmp_path], check=True)
    try:
        for _ in range(2):
            server = EmbeddedServer(tmp_path / "store", binaries=private / "pginstall/bin")
            query(server.start(), "CREATE EXTENSION IF NOT EXISTS vector")
            server.stop()
            assert [copy.name.startswith("postgresql-") for copy in cache.iterdir()] == [True]
    finally:
        shutil.rmtree(cache)


def test_works_for_an_unprivileged_user_and_for_root_after_it() -> None:
    nobody = pwd.getpwnam("nobody")
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    environment = {"PYTHONPATH": f"{SOURCES}:{Path(psycopg.__file__).parents[1]}", "PATH": os.defpath}
    probe = subprocess.run(
        [python, "-c", "import psycopg"],
        user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[],
        env=environment, cwd="/", capture_output=True, check=False,
    )  # fmt: skip
    if probe.returncode != 0:
        pytest.skip("no Python that nobody can run with these packages")
    home = Path("/var/tmp") / f"ebbtide-nobody-{os.getpid()}"
    home.mkdir()
    shutil.chown(home, "nobody")
    try:
        answer = subprocess.run(
            [python, "-c", PROGRAM, home / "store", find_binaries()],
            user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[],
            env=environment, cwd="/", input="end\n", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (answer.returncode, answer.stderr) == (0, "")
        assert not runs(home / "store")
        server = EmbeddedServer(home / "store")
        query(server.start(), "SELECT 1")
        assert Path(f"/proc/{postmaster(home / 'store')}").stat().st_uid == nobody.pw_uid
        server.stop()
    finally:
        shutil.rmtree(home)
