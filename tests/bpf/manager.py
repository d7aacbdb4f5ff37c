# SPDX-License-Identifier: GPL-2.0-or-later
"""A real systemd, whose units are those of a test."""

import contextlib
import os
import subprocess
import tempfile
import time

from harness import Cgroup, mount_of

# A service manager of our own: a user's systemd need not be process 1. It has a private /run, where it checks whether
# the machine was started by systemd, and cgroups of its own.
MANAGER = """mount --make-rprivate / && mount -t tmpfs none /run && mkdir -p -m 700 /run/systemd/system /run/manager || exit 1
for cgroup; do echo $$ >$cgroup/cgroup.procs || exit 1; done
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 XDG_RUNTIME_DIR=/run/manager \\
	/lib/systemd/systemd --user --unit=basic.target
"""
# Enters its mounts, in the present folder.
ENTER = """folder=$PWD
exec nsenter -t "$0" -m sh -c 'cd "$0" && XDG_RUNTIME_DIR=/run/manager exec systemd-run --user --quiet --collect --same-dir \\
	"$@"' "$folder" "$@"
"""


class Manager:
    """systemd, and the commands that start a unit."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.places = []  # its cgroups
        for controller in (None, "name=systemd"):
            if mount_of("cgroup", controller) if controller else mount_of("cgroup2"):
                cgroup = Cgroup(f"systop-manager-{os.getpid()}", controller)
                self.stack.callback(self.remove, cgroup)
                self.places.append(cgroup.path)
        self.log = self.stack.enter_context(tempfile.TemporaryFile("w+"))
        self.proc = subprocess.Popen(["unshare", "-m", "sh", "-c", MANAGER, "manager", *self.places], stdin=subprocess.DEVNULL,
                                     stdout=self.log, stderr=self.log)
        self.stack.callback(self.end)

    def __enter__(self):
        socket = f"/proc/{self.proc.pid}/root/run/manager/systemd/private"
        end = time.monotonic() + 20
        while not os.path.exists(socket) or not self.answers():
            if self.proc.poll() is not None or time.monotonic() > end:
                self.log.seek(0)
                said = self.log.read()
                self.stack.close()
                raise AssertionError(f"systemd does not run: {self.proc.returncode}, {said}")
            time.sleep(0.05)
        return self

    def __exit__(self, *exc):
        self.stack.close()

    def answers(self):
        """Whether it starts a unit: its socket exists a little earlier."""
        return not subprocess.run([*self.command(), "true"], capture_output=True, check=False, timeout=60).returncode

    def end(self):
        self.proc.terminate()
        self.proc.wait(60)

    @staticmethod
    def remove(cgroup):
        for folder, _, _ in os.walk(cgroup.path, topdown=False):
            if folder != cgroup.path:
                os.rmdir(folder)
        cgroup.remove()

    def command(self, *properties, how="--pipe"):
        return ["sh", "-c", ENTER, str(self.proc.pid), "--wait", how, *properties]
