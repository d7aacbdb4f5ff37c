# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input and bad days: what is said, the exit status, and what is left behind: nothing."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import SYSTOP, Cgroup, Load, begin, bpf_ids, bpf_left, load_path  # noqa: E402

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)


def says(status, text, *command):
    """Ends with this status and a message of what, why and how to fix it."""
    done = run(*command)
    assert done.returncode == status, (done.returncode, done.stderr)
    assert text in done.stderr, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("systop: "), lines
    assert max(len(line) for line in lines) <= 80, lines
    assert not done.stdout, done.stdout
    return lines


def fails(status, text, *args):
    lines = says(status, text, SYSTOP, *args)
    assert any(line.startswith("  why: ") for line in lines), lines
    assert any(line.startswith("  fix: ") for line in lines), lines


def bad_values():
    for args in (["-d", "0"], ["-d", "61"], ["-d", "x"], ["-n", "0"], ["-n", "-1"], ["-n", "x"],
                 ["-p", "x"], ["-p", "0"], ["-p", "1,"], ["-s", "nocolumn"], ["--color=maybe"],
                 ["-c", ""]):
        fails(2, "bad value for " + args[0].split("=")[0], *args)
    fails(2, "a command to run stands behind --"[:10], "word")


def unknown_option():
    says(2, "unrecognized option", SYSTOP, "--nosuch")


def no_cgroup():
    name = f"systop-err-{os.getpid()}"
    with Cgroup(name) as cgroup, Load("sleep", "60") as load:
        cgroup.add(load.pid)
        done = run(SYSTOP, "-b", "-n1", "-c", name[:-1] + "x")
        assert done.returncode == 5, done
        assert f'no cgroup matches "{name[:-1]}x"' in done.stderr, done.stderr
        assert f"did you mean: /{name} (1 threads)" in done.stderr, done.stderr
        assert "systop --list-cgroups" in done.stderr, done.stderr
    fails(5, 'no cgroup matches "/no/such/one"', "-b", "-c", "/no/such/one")


def ambiguous():
    name = f"systop-two-{os.getpid()}"
    with Cgroup(f"{name}a"), Cgroup(f"{name}b"):
        done = run(SYSTOP, "-b", "-c", name)
        assert done.returncode == 5, done
        assert f'2 cgroups match "{name}"' in done.stderr, done.stderr
        assert f"/{name}a" in done.stderr and f"/{name}b" in done.stderr, done.stderr


def no_rights():
    lines = says(4, "cannot load BPF programs: missing CAP_BPF, CAP_PERFMON (have: none)", *NOBODY,
                 SYSTOP, "-b")
    assert any("sudo" in line for line in lines), lines
    says(4, "missing CAP_PERFMON (have: CAP_BPF)", *NOBODY, "--inh-caps=+bpf",
         "--ambient-caps=+bpf", SYSTOP, "-b")


def least_rights():
    """CAP_BPF and CAP_PERFMON are enough."""
    caps = "+bpf,+perfmon"
    done = run(*NOBODY, f"--inh-caps={caps}", f"--ambient-caps={caps}", SYSTOP, "-b", "-d", "0.3",
               "-n", "1")
    assert done.returncode == 0 and "COMM" in done.stdout, done


def rights_dropped():
    """Once it runs, root's systop has two capabilities and can get no others."""
    with subprocess.Popen([SYSTOP, "--json"], stdout=subprocess.PIPE) as proc:
        proc.stdout.readline()
        with open(f"/proc/{proc.pid}/status") as f:
            status = dict(re.findall(r"^(\w+):\t(.*)$", f.read(), re.MULTILINE))
        proc.terminate()
    bpf_and_perfmon = f"{1 << 39 | 1 << 38:016x}"
    assert status["CapEff"] == status["CapPrm"] == bpf_and_perfmon, status["CapEff"]
    assert status["NoNewPrivs"] == "1", status["NoNewPrivs"]


def no_btf():
    done = run("unshare", "-m", "sh", "-c",
               f"mount --bind /dev/null /sys/kernel/btf/vmlinux && exec {SYSTOP} -b")
    assert done.returncode == 3, done
    assert "has no BTF (/sys/kernel/btf/vmlinux" in done.stderr, done.stderr
    assert done.stderr.startswith("systop: kernel ") and "libbpf" not in done.stderr, done.stderr


def without_root():
    for args, text in ((["--help"], "Usage: systop"), (["--version"], "systop "),
                       (["--list-cgroups"], "THREADS"), (["--schema"], "json-schema"),
                       (["-s", "help"], "RUNQ%")):
        done = run(*NOBODY, SYSTOP, *args)
        assert done.returncode == 0 and text in done.stdout, (args, done)
    done = run(*NOBODY, SYSTOP, "--check")
    assert done.returncode == 4 and "CAP_BPF" in done.stdout and "cannot run here" in done.stdout, done
    done = run(SYSTOP, "--check")
    assert done.returncode == 0 and "systop can run here" in done.stdout, done


def ends(number, *args):
    """A signal ends it within a second, as that signal, and takes the BPF programs along."""
    before = bpf_ids()
    with subprocess.Popen([SYSTOP, *args], stdout=subprocess.PIPE) as proc:
        proc.stdout.readline()
        assert bpf_ids() - before, "no BPF program while it runs?"
        proc.send_signal(number)
        began = time.monotonic()
        proc.stdout.read()
        status = proc.wait(10)
        took = time.monotonic() - began
    assert status == -number, status
    assert took < 1, f"{took:.1f} s"
    assert not bpf_left(before), bpf_left(before)


def reader_gone():
    """The other end of the pipe closes: it ends, silently."""
    before = bpf_ids()
    with subprocess.Popen([SYSTOP, "--json", "-d", "0.2"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as proc:
        proc.stdout.readline()
        proc.stdout.close()
        assert proc.wait(5) == -signal.SIGPIPE, proc.returncode
        assert not (said := proc.stderr.read()), said
    assert not (left := bpf_left(before)), f"BPF programs {left} stay"


def target_gone():
    """What -p asked for ends: the last refresh is shown, then why there are no more."""
    with subprocess.Popen(["sleep", "2.5"]) as load:
        done = run(SYSTOP, "--json", "-d", "0.5", "-n", "60", "-p", str(load.pid))
    assert done.returncode == 5, done
    assert 2 <= len(done.stdout.splitlines()) <= 8, done
    assert f"systop: sleep {load.pid} exited by " in done.stderr, done.stderr
    # What it forked is asked for, too: it goes on until that has ended.
    with subprocess.Popen(["sh", "-c", "sleep 1; sleep 2.5 &"]) as load:
        done = run(SYSTOP, "--json", "-d", "0.5", "-n", "60", "-p", str(load.pid))
    assert done.returncode == 5 and len(done.stdout.splitlines()) >= 5, done


def disk_full():
    with open("/dev/full", "w") as full:
        done = subprocess.run([SYSTOP, "--json", "-d", "0.2", "-n", "2"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "cannot write the output" in done.stderr, done
    for option in ("--help", "--version", "--list-cgroups", "--print-config"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([SYSTOP, option], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1 and "cannot write the output" in done.stderr, (option, done)


def closed(*fds):
    """Standard files that are closed: nothing of systop's gets their numbers, and output that nobody gets is an error."""
    def close():
        for fd in fds:
            os.close(fd)

    def outcome(*args):
        done = subprocess.run([SYSTOP, *args], preexec_fn=close, capture_output=True, text=True, errors="replace",
                              check=False, close_fds=False)
        return done.returncode, done.stdout, done.stderr

    with tempfile.TemporaryDirectory() as folder:
        for args in (("--json", "-n", "1", "-d", "0.2"), ("-b", "-n", "1", "-d", "0.2"), ("--version",), ("--help",),
                     ("-w", "-", "--duration", "0.2")):
            status, out, err = outcome(*args)
            if 1 not in fds:
                assert status == 0 and out, f"{args}: status {status}, {err}"
                continue
            assert status == 1, f"{args}: status {status}, not 1; {out} {err}"
            if 2 not in fds:
                assert "standard output is closed" in err, f"{args}: {err}"
        status, _, err = outcome("-w", f"{folder}/trace", "--duration", "0.2")
        assert status == 0, f"-w FILE: status {status}, {err}"
        with open(f"{folder}/trace", "rb") as f:
            assert f.read(1) == b"\n", "-w FILE: no trace"
        status, _, err = outcome()
        assert status == 2 and (2 in fds or "not a terminal" in err), f"a screen: status {status}, {err}"


def main():
    tap = begin()
    tap.case("bad values", bad_values)
    tap.case("unknown option", unknown_option)
    tap.case("unknown cgroup, with suggestions", no_cgroup)
    tap.case("ambiguous cgroup", ambiguous)
    tap.case("unknown process", fails, 5, "no process with PID 4194303", "-b", "-p", "4194303")
    tap.case("unknown user", fails, 5, 'no user "nosuchuser"', "-b", "-u", "nosuchuser")
    tap.case("no rights, some rights", no_rights)
    tap.case("least rights", least_rights)
    tap.case("rights are dropped", rights_dropped)
    tap.case("no BTF", no_btf)
    tap.case("what works without root", without_root)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"):
        tap.case(f"{name} with --json", ends, getattr(signal, name), "--json", "-d", "0.2")
        tap.case(f"{name} with -b", ends, getattr(signal, name), "-b", "-d", "0.2")
    tap.case("the reader goes away", reader_gone)
    tap.case("what -p asked for ends", target_gone)
    tap.case("full disk", disk_full)
    for fds in ((0,), (1,), (2,), (0, 1, 2)):
        tap.case(f"closed at the start: {fds}", closed, *fds)
    tap.done()


main()
