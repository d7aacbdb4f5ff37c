# SPDX-License-Identifier: GPL-2.0-or-later
"""In containers: what systop refuses and reports in namespaces other than the host's, and without cgroups."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from harness import SYSTOP, Cgroup, begin, cpu_controller, rows_of  # noqa: E402

KERNEL = 3  # exit status


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def refused(words, *command):
    status, out, err = run(*command)
    assert status == KERNEL, f"status {status}: {err}"
    assert not out, f"printed {out[:200]!r}"
    for word in words:
        assert word in err, f"no {word!r} in {err!r}"
    return err.replace("\n", " ")


def pid_namespace():
    """With its own /proc or not, with -b, --json or the screen, nothing is shown under the name of another process."""
    for mode in (("-b", "-n", "1"), ("--json", "-n", "1"), ()):
        refused(("PID namespace", "--pid=host"), "unshare", "-pf", "--mount-proc", SYSTOP, *mode)
    status, out, _ = run("unshare", "-pf", "--mount-proc", SYSTOP, "--check")
    assert status == KERNEL and "--pid=host" in out, (status, out)


def pid_translated():
    """If /proc is the host's, the message has the PID that the process of -p has on the host."""
    script = 'sleep 60 & echo $! >&3; exec "$0" -b -n 1 -p $!'
    read, write = os.pipe()
    # The shell is pid 1 of the namespace, its child 2.
    with subprocess.Popen(["unshare", "-pf", "sh", "-c", script.replace(">&3", f">&{write}"), SYSTOP], pass_fds=[write],
                          stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        os.close(write)
        with os.fdopen(read) as f:
            inner = int(f.readline())
        children = open(f"/proc/{p.pid}/task/{p.pid}/children").read().split()
        _, err = p.communicate(timeout=60)
    assert inner == 2, inner
    assert f"-p {inner} is process " in err, f"{err!r}, children {children}"
    number = int(err.partition(f"-p {inner} is process ")[2].split()[0])
    assert number > inner, err
    return f"{inner} is {number}"


def time_namespace():
    """A namespace with the host's clock does no harm."""
    for clock, offset in (("boottime", 1000), ("monotonic", 1000), ("monotonic", -1)):
        refused(("time namespace", f"its {clock} clock is {offset}.000 s", "nsenter"),
                "unshare", "-T", f"--{clock}", str(offset), SYSTOP, "-b", "-n", "1")
    status, out, err = run("unshare", "-T", SYSTOP, "-b", "-n", "1", "-d", "0.3")
    assert status == 0 and out and not err, (status, err)


def user_namespace():
    """It has all capabilities in there, but none that the kernel accepts for BPF."""
    refused(("user namespace", "capabilities of a user namespace do not count for BPF", "--userns=host"),
            "unshare", "-U", "-r", SYSTOP, "-b", "-n", "1")


def cgroup_namespace():
    """With the host's mounts all cgroups have names; a mount of the namespace's own begins at the namespace's root."""
    mount = 'umount -l -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && '
    with Cgroup("systop-namespace") as cgroup:
        for before, partial in ("", False), (mount, True):
            status, out, err = run("sh", "-c", 'echo $$ >"$1/cgroup.procs" && exec unshare -Cm sh -c "$2" "$0"', SYSTOP,
                                   cgroup.path, before + 'exec "$0" --json --all -n 1 -d 0.3')
            assert status == 0, (status, err)
            assert ("cgroup namespace" in err and "--cgroupns=host" in err) == bool(err) == partial, err
            assert any(t["cgroup"].startswith("/?") for t in json.loads(out)["threads"]) == partial, out[:200]


def part_of_cgroups():
    """As a runtime mounts v1 in a container: only the container's own cgroup, although its namespace is the host's."""
    with Cgroup("systop-part", cpu_controller()) as cgroup:
        status, out, err = run("unshare", "-m", "sh", "-c", 'mount --bind "$1" /mnt && umount -l -R /sys/fs/cgroup && '
                               'exec "$0" --json --all -n 1 -d 0.3', SYSTOP, cgroup.path)
    assert status == 0, (status, err)
    assert "only a part of the cgroups is mounted" in err and "-v /sys/fs/cgroup" in err, err
    assert any(t["cgroup"].startswith("/?") for t in json.loads(out)["threads"]), out[:200]


def no_cgroups():
    """One row with all threads, and a line that reports it."""
    status, out, err = run("unshare", "-m", "sh", "-c",
                           'umount -l -R /sys/fs/cgroup && exec "$0" --json --all -n 1 -d 0.3', SYSTOP)
    assert status == 0, (status, err)
    assert "no cgroup hierarchy is mounted" in err, err
    line = json.loads(out)
    assert [c["path"] for c in line["cgroups"]] == ["/"], [c["path"] for c in line["cgroups"]]
    assert line["cgroups"][0]["threads"] == len(line["threads"]), (line["cgroups"][0]["threads"], len(line["threads"]))
    assert {t["cgroup"] for t in line["threads"]} == {t["cpu_cgroup"] for t in line["threads"]} == {"/"}
    assert rows_of([line], 2), "no kthreadd"


def host():
    """On the host there is nothing to report."""
    status, out, err = run(SYSTOP, "-b", "-n", "1", "-d", "0.3")
    assert status == 0 and out and not err, (status, err)


def main():
    tap = begin()
    tap.case("in the host's namespaces", host)
    tap.case("in a PID namespace", pid_namespace)
    tap.case("-p in a PID namespace with the host's /proc", pid_translated)
    tap.case("in a time namespace", time_namespace)
    tap.case("in a user namespace", user_namespace)
    tap.case("in a cgroup namespace", cgroup_namespace)
    tap.case("where only a part of the cgroups is mounted", part_of_cgroups)
    tap.case("without cgroups", no_cgroups)
    tap.done()


main()
