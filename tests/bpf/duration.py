# SPDX-License-Identifier: GPL-2.0-or-later
"""--duration ends every output, -o with it records, and -b takes an interval and a count."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, MS, SEC, SYSTOP, Load, Systop, attached, begin, load_path  # noqa: E402

# Time that systop takes beside the requested duration, to load its programs and to wait for names of functions: a second or two, on
# a busy machine several.
MORE_S = 60 if GUEST else 10
CUT = "; more did not fit: see --window-mem"


def took(seconds, *args, status=0):
    began = time.monotonic()
    done = subprocess.run([SYSTOP, *args, "--duration", str(seconds)], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=seconds + 5 * MORE_S)
    passed = time.monotonic() - began
    assert done.returncode == status, done
    assert seconds <= passed <= seconds + MORE_S, f"{passed:.2f} s instead of {seconds}"
    return done.stdout.decode(), done.stderr.decode()


def refreshes(seconds, interval, wanted):
    """Whole intervals, and at the end the rest of one."""
    began = time.monotonic()
    with Systop("--duration", str(seconds), "-d", str(interval)) as systop:
        lines = systop.rest()
        assert systop.proc.wait() == 0
    assert time.monotonic() - began >= seconds
    times = [line["interval_ns"] / SEC for line in lines]
    # A late refresh makes the next one shorter; the first begins when the programs are attached.
    assert len(lines) in wanted, times
    assert abs(sum(times) - seconds) < (5 if GUEST else 0.5), times


def table():
    out, _ = took(1, "-b")
    assert out.startswith("systop ") and out.count("RUN%") == 1, out
    assert took(0.3, "-b")[0].count("RUN%") == 1, "an interval that is longer than all of it is shown at the end"


def folded():
    out, _ = took(1, "--folded=wall")
    assert ";" in out and out.splitlines()[0].split()[-1].isdigit(), out[:300]


def files():
    with tempfile.TemporaryDirectory() as d:
        took(1, "--openmetrics", f"{d}/m")
        took(1, "--pprof", f"{d}/p.pprof.gz")
        took(1, "-w", f"{d}/t.pb")
        with open(f"{d}/m") as f:
            assert f.read().endswith("# EOF\n")
        with open(f"{d}/p.pprof.gz", "rb") as f:
            assert f.read(2) == b"\x1f\x8b"
        assert sorted(os.listdir(d)) == ["m", "p.pprof.gz", "t.pb"], os.listdir(d)


def records():
    """-o FILE --duration is -w FILE --duration, without a terminal, in any order."""
    with tempfile.TemporaryDirectory() as d:
        for args in ("-o", f"{d}/a.pb"), ("-o", f"{d}/b.pb", "-d", "0.5"):
            _, err = took(1, *args)
            assert f"saved {args[1]}: " in err and " 0 lost, 0 gaps" in err, err
            assert os.stat(args[1]).st_mode & 0o777 == 0o600
        done = subprocess.run([SYSTOP, "--duration", "0.5", "-o", f"{d}/c.pb"], capture_output=True, text=True, check=True)
        assert f"saved {d}/c.pb: " in done.stderr, done
        took(0.5, "-b", "-o", f"{d}/never.pb")
        assert sorted(os.listdir(d)) == ["a.pb", "b.pb", "c.pb"], os.listdir(d)


def more_than_fits():
    """A recording that is longer than the rings hold reports that, and how to make them larger."""
    with tempfile.TemporaryDirectory() as d, Load(load_path("pingpong"), "60"):
        _, err = took(3, "-w", f"{d}/t.pb", "--window-mem", "1M")
        assert float(re.search(r"([\d.]+) s, ", err)[1]) < 2.5 and err.endswith(CUT + "\n"), err
        _, err = took(0.5, "-w", f"{d}/t.pb")
        assert "0.5 s, " in err and CUT not in err, err
    return err


def ends_late():
    """A recording that is saved long after its end, as systop was stopped meanwhile, still has all of its time."""
    with tempfile.TemporaryDirectory() as d, \
         subprocess.Popen([SYSTOP, "-w", f"{d}/t.pb", "--duration", "1", "--window", "1", "--window-mem", "64M", "-d", "0.25"],
                          stderr=subprocess.PIPE, text=True) as systop:
        attached(systop.pid, MORE_S)
        time.sleep(0.5)
        systop.send_signal(signal.SIGSTOP)
        time.sleep(2.3)
        systop.send_signal(signal.SIGCONT)
        _, err = systop.communicate(timeout=MORE_S)
    assert ", 1.0 s, " in err and CUT not in err, err


def whichever_is_first():
    with Systop("--duration", "60", "-n", "1", "-d", "0.2") as systop:
        assert len(systop.rest()) == 1
    began = time.monotonic()
    with Systop("--duration", "0.5", "-d", "0.2", command=("sleep", "60")) as systop:
        systop.rest()
        assert systop.proc.wait() == 0
    assert (passed := time.monotonic() - began) < 30, f"{passed:.1f} s"
    with tempfile.TemporaryDirectory() as d:
        done = subprocess.run([SYSTOP, "-w", f"{d}/t.pb", "--duration", "60", "-n", "2", "-d", "0.5"], capture_output=True,
                              text=True, check=True, timeout=30)
        assert ", 1.0 s, " in done.stderr, done


def no_room():
    """Rings that are too small for all CPUs are found at the start, not after the recording."""
    with tempfile.TemporaryDirectory() as d:
        for args in ("-w", f"{d}/t.pb"), ("--json", "--on", "cpu>5", "-o", f"{d}/t.pb"):
            began = time.monotonic()
            done = subprocess.run([SYSTOP, *args, "--window-mem", "8K", "--duration", "60"], capture_output=True, text=True,
                                  check=False, timeout=30)
            assert done.returncode == 2 and "cannot record" in done.stderr and "--window-mem 64M" in done.stderr, done
            assert time.monotonic() - began < 30 and not done.stdout, done
        assert not os.listdir(d)


def forked():
    """A profile of a process continues as long as the processes that it has forked."""
    with subprocess.Popen(["sh", "-c", f"sleep {10 if GUEST else 2}; {load_path('spin')} user 9 > /dev/null & sleep 1"]) as load:
        began = time.monotonic()
        done = subprocess.run([SYSTOP, "--folded=cpu", "-n", "1", "-d", "20" if GUEST else "6", "-p", str(load.pid)], capture_output=True, text=True,
                              check=True, timeout=100)
        took = time.monotonic() - began
    assert took >= 6 and ";main" in done.stdout, (took, done)


def long_ones():
    """No duration is too long: another limit ends the run."""
    for seconds in "601", "2h", "876000h":
        done = subprocess.run([SYSTOP, "-b", "-n", "1", "-d", "0.1", "--duration", seconds], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done
    with tempfile.TemporaryDirectory() as d:
        with subprocess.Popen([SYSTOP, "-w", f"{d}/t.pb", "--duration", "48h"], stderr=subprocess.PIPE, text=True) as systop, \
             subprocess.Popen([SYSTOP, "-w", f"{d}/u.pb", "--window", "1"], stderr=subprocess.PIPE, text=True) as endless:
            attached(systop.pid, MORE_S)
            attached(endless.pid, MORE_S)
            time.sleep(2.3)
            systop.terminate()
            endless.terminate()
            _, err = systop.communicate(timeout=MORE_S)
            assert f"saved {d}/t.pb: " in err and CUT not in err, err
            _, err = endless.communicate(timeout=MORE_S)
            assert float(re.search(r"([\d.]+) s, ", err)[1]) > 1.9 and CUT not in err, err


def as_vmstat():
    began = time.monotonic()
    done = subprocess.run([SYSTOP, "-b", "0.2", "3"], capture_output=True, text=True, check=True)
    assert done.stdout.count("RUN%") == 3, done.stdout
    assert time.monotonic() - began >= 0.6
    done = subprocess.run([SYSTOP, "--json", "0.3", "1"], capture_output=True, text=True, check=True)
    (line,) = map(json.loads, done.stdout.splitlines())
    assert 250 * MS < line["interval_ns"] < (5000 if GUEST else 800) * MS, line["interval_ns"]


def before_it_began():
    """-w --at: until the recording begins, a trace can be saved; ended before that, it reports it, and writes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path, saved = os.path.join(folder, "trace"), os.path.join(folder, "saved")
        with subprocess.Popen([SYSTOP, "-w", path, "-o", saved, "--at", "+600"], stderr=subprocess.PIPE, text=True) as systop:
            attached(systop.pid, MORE_S)
            time.sleep(1.5)
            systop.send_signal(signal.SIGUSR1)
            end = time.monotonic() + MORE_S
            while not os.path.exists(saved) and time.monotonic() < end:
                time.sleep(0.05)
            there = os.path.exists(saved)
            systop.send_signal(signal.SIGINT)
            said = systop.communicate(timeout=MORE_S)[1]
        assert there and re.match(rf"systop: saved {saved}: .*, [1-9]\d*\.\d s, ", said), said
        assert systop.returncode == 1 and "before --at" in said and "fix" not in said, (systop.returncode, said)
        assert not os.path.exists(path)


def main():
    tap = begin()
    tap.together([
        ("--json: a multiple of the interval", refreshes, 1, 0.25, range(2, 6)),
        ("--json: the rest of an interval", refreshes, 1, 0.8, (1, 2)),
        ("-b", table),
        ("--folded", folded),
        ("--openmetrics, --pprof, -w", files),
        ("-o records", records),
        ("-w: more than the rings hold", more_than_fits),
        ("-w: ended before it began", before_it_began),
        ("it is not the only end", whichever_is_first),
        ("--folded -p: what it forked goes on", forked),
        ("it has no limit", long_ones),
        ("-w, --on: no room for the rings", no_room),
        ("-b SEC N", as_vmstat),
    ], 3)
    tap.case("-w: ended late", ends_late)
    tap.done()


main()
