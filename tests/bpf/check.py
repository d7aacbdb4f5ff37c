# SPDX-License-Identifier: GPL-2.0-or-later
"""--check --json prints the same as the table of --check, for programs, both where systop can run and where it cannot."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import jsonschema

sys.path.insert(0, os.path.dirname(__file__))
from harness import SYSTOP, begin  # noqa: E402

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def in_shell(*first):
    return ("sh", "-c", " && ".join(first) + ' && exec "$@"', "sh")


# Cases: how systop is started, the exit status, the failing step and a part of its reason, an item that is not ok.
PLACES = {
    "as root": ((), 0, None, None, None),
    "without rights": (NOBODY, 4, "rights", "capabilities of this process", "CAP_BPF"),
    "with CAP_SYS_ADMIN instead": (("setpriv", "--bounding-set=-bpf,-perfmon"), 4, "rights", "capabilities of this process",
                                   "CAP_BPF"),
    "without types": (("unshare", "-m", *in_shell("mount --bind /dev/null /sys/kernel/btf/vmlinux")), 3, "kernel features",
                      "CONFIG_DEBUG_INFO_BTF", "BTF"),
    "without a list of CPUs": (("unshare", "-m", *in_shell("mount -t tmpfs none /sys/devices/system/cpu")), 3, "kernel features",
                               "/sys/devices/system/cpu/possible", None),
    "in a user namespace": (("unshare", "-Ur"), 3, "namespaces", "user namespace", None),
    "in a PID namespace": (("unshare", "-pf", "--mount-proc"), 3, "namespaces", "host's PIDs", None),
    "with few files": (in_shell("ulimit -n 20"), 1, "open files", "RLIMIT_NOFILE", None),
    "with a small stack": (in_shell("ulimit -s 128"), 1, "stack", "RLIMIT_STACK", None),
    "without types and rights": (("unshare", "-m", *in_shell("mount --bind /dev/null /sys/kernel/btf/vmlinux"), *NOBODY), 4,
                                 "rights", "capabilities of this process", "BTF"),
    "without kernel symbols": (("unshare", "-m", *in_shell("mount --bind /dev/null /proc/kallsyms")), 0, None, None,
                               "kernel symbols"),
    "without /proc": (("unshare", "-m", *in_shell("mount -t tmpfs none /proc")), 1, "start", "/proc is not mounted", "cgroups"),
    "without cgroups": (("unshare", "-m", *in_shell("umount -R /sys/fs/cgroup")), 0, None, None, "cgroups"),
}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=120)


def schema():
    described = json.loads(run(SYSTOP, "--check", "--schema").stdout)
    assert described == json.loads(run(SYSTOP, "--schema", "--check").stdout)
    jsonschema.Draft7Validator.check_schema(described)
    return jsonschema.Draft7Validator(described)


def of(found, name):
    return [c for c in found["checks"] if c["name"] == name]


def looks(systop, name):
    before, status, step, reason, wrong = PLACES[name]
    table = run(*before, systop, "--check")
    for args in ("--check", "--json"), ("--json", "--check"):
        done = run(*before, systop, *args)
        assert (done.returncode, table.returncode) == (status, status), (done, table)
        assert done.stdout.count("\n") == 1 and not done.stderr, done
        found = json.loads(done.stdout)
        schema().validate(found)
        assert found["ok"] == (status == 0) and found["exit_status"] == status, found
        assert (found["host"], found["kernel"], found["machine"]) == (os.uname().nodename, os.uname().release, os.uname().machine)
    failed = [c for c in found["checks"] if c["needed"] and c["ok"] is False]
    assert bool(failed) == (status != 0), failed
    for check in failed:
        assert check["reason"] and (check["fix"] or check["name"] == "BPF programs"), check
    if step:
        (one,) = of(found, step)
        assert one["ok"] is False and reason in one["reason"], one
        assert one["text"] in table.stdout and f"  fix: {one['fix']}\n" in table.stdout, (one, table.stdout)
        later = found["checks"][found["checks"].index(one) + 1:]
        assert all(c["ok"] is None and "not checked" in c["reason"] for c in later), later
    if wrong:
        assert any(c["ok"] is False and c["reason"] for c in of(found, wrong)), of(found, wrong)
    for check in found["checks"]: # everything in the table is there
        assert check["name"] in table.stdout or check["name"] in ("kernel features", "namespaces", "rights", "clock's cost",
                                                                  "open files", "stack", "start"), check


def starts_alike(systop):
    """The first failure that --check finds is the message of a systop that does not start."""
    for name, (before, status, step, _, _) in PLACES.items():
        if step and step != "open files": # a table needs more open files
            done = run(*before, systop, "-b", "-n", "1")
            found = json.loads(run(*before, systop, "--check", "--json").stdout)
            assert done.returncode == status and of(found, step)[0]["text"] in done.stderr, (name, done, of(found, step))


def unread_mounts(systop):
    """systop reports that no cgroups are mounted only where it knows that."""
    for name, said in (("without cgroups", "none mounted"), ("without /proc", "unknown: cannot read /proc/self/mountinfo")):
        (one,) = of(json.loads(run(*PLACES[name][0], systop, "--check", "--json").stdout), "cgroups")
        assert one["ok"] is False and one["text"].startswith(said) and one["fix"].startswith("mount -t "), one


def helpers_rights(systop):
    """--check reports rights that helpers lack; systop runs without them."""
    caps = "--inh-caps=+bpf,+perfmon", "--ambient-caps=+bpf,+perfmon"
    done = run(*NOBODY, *caps, systop, "--check", "--json")
    found = json.loads(done.stdout)
    assert found["ok"] and done.returncode == 0, done
    for name, there in (("CAP_BPF", True), ("CAP_SYS_PTRACE", False), ("CAP_DAC_READ_SEARCH", False), ("CAP_SYSLOG", False), ("samples", True)):
        (one,) = of(found, name)
        assert one["ok"] is there and (there or not one["needed"] and one["fix"]), one


def strict():
    """The schema lets nothing else pass."""
    found = json.loads(run(SYSTOP, "--check", "--json").stdout)
    for spoil in (lambda f: f.pop("ok"), lambda f: f.update(more=1), lambda f: f["checks"][0].pop("fix"),
                  lambda f: f["checks"][0].update(ok="yes"), lambda f: f["checks"][0].update(more=1)):
        other = json.loads(json.dumps(found))
        spoil(other)
        assert not schema().is_valid(other), other


def main():
    tap = begin()
    with tempfile.TemporaryDirectory() as folder: # from which anyone can run it
        os.chmod(folder, 0o755)
        systop = shutil.copy(SYSTOP, folder)
        for name in PLACES:
            tap.case(f"--check --json {name}", looks, systop, name)
        tap.case("systop and --check find the same", starts_alike, systop)
        tap.case("no cgroups, and mounts that cannot be read", unread_mounts, systop)
        tap.case("what helpers lack", helpers_rights, systop)
    tap.case("the schema is strict", strict)
    tap.done()


main()
