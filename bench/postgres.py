# SPDX-License-Identifier: GPL-2.0-or-later
"""A private PostgreSQL server for a measurement: in a temporary folder, under an unprivileged user, removed
afterwards."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from common import CannotRun, die

USER = "nobody"
SCALE = 10       # 1,000,000 rows, 150 MB: all of it is in memory
START_S = 30


def find(program):
    """The newest version's folder of Debian's server programs."""
    found = glob.glob(f"/usr/lib/postgresql/*/bin/{program}")
    found.sort(key=lambda path: int(path.split("/")[4]) if path.split("/")[4].isdigit() else 0)
    path = found[-1] if found else shutil.which(program)
    if not path:
        raise CannotRun(f"{program} is not installed (Debian: postgresql)")
    return path


class Postgres:
    """On entry it answers, and pgbench's tables exist. It has no port: nothing else can reach it."""

    def __init__(self):
        self.programs = {name: find(name) for name in ("postgres", "initdb", "pgbench")}
        self.folder = None
        self.server = None

    def _run(self, argv, **options):
        user = pwd.getpwnam(USER)
        return {
            "args": argv,
            "cwd": self.folder,
            "env": {"LC_ALL": "C", "PATH": "/usr/bin:/bin", "HOME": self.folder},
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
            "user": user.pw_uid,
            "group": user.pw_gid,
            "extra_groups": [],
            **options,
        }

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="systop-bench-pg-")
        try:
            user = pwd.getpwnam(USER)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            data = os.path.join(self.folder, "data")
            initdb = [self.programs["initdb"], "-D", data, "-U", "bench", "-A", "trust", "--no-sync", "-E", "UTF8"]
            if subprocess.run(**self._run(initdb), check=False).returncode:
                raise CannotRun("initdb failed")
            settings = ["listen_addresses=", "fsync=off", "shared_buffers=256MB", "autovacuum=off"]
            argv = [self.programs["postgres"], "-D", data, "-k", self.folder]
            self.server = subprocess.Popen(**self._run(argv + [word for s in settings for word in ("-c", s)]))
            self._fill()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _fill(self):
        deadline = time.monotonic() + START_S
        argv = self._pgbench(["-i", "-q", "-s", str(SCALE), "postgres"])
        while subprocess.run(**self._run(argv), check=False).returncode:
            if self.server.poll() is not None or time.monotonic() > deadline:
                raise CannotRun("postgres does not answer")
            time.sleep(0.2)

    def _pgbench(self, arguments):
        return [self.programs["pgbench"], "-h", self.folder, "-U", "bench"] + arguments

    def select(self, clients, seconds):
        """Starts `pgbench -S`; wait for it with finish()."""
        argv = self._pgbench(["-n", "-S", "-c", str(clients), "-T", str(seconds), "postgres"])
        return subprocess.Popen(**self._run(argv, stdout=subprocess.PIPE, text=True))

    def update(self, clients, rate, seconds, progress):
        """Starts `pgbench -N` with @rate transactions a second; every 5 seconds it writes their results to @progress."""
        argv = self._pgbench(["-n", "-N", "-P", "5", "-c", str(clients), "-R", str(rate), "-T", str(seconds), "postgres"])
        return subprocess.Popen(**self._run(argv, stderr=progress))

    @staticmethod
    def finish(load):
        """Transactions per second."""
        output, _ = load.communicate()
        found = [line.split()[2] for line in output.splitlines() if line.startswith("tps = ")]
        if load.returncode or not found:
            die("pgbench -S failed")
        return float(found[0])

    def __exit__(self, *_):
        if self.server and self.server.poll() is None:
            self.server.send_signal(signal.SIGINT)  # fast: ends sessions, waits for nothing
            try:
                self.server.wait(START_S)
            except subprocess.TimeoutExpired:
                self.server.send_signal(signal.SIGQUIT)
                self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
