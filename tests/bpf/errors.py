# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input and bad conditions: the message, the exit status, and that nothing is left behind."""

import datetime
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "tui"))
from harness import SYSTOP, Cgroup, Load, begin, bpf_ids, bpf_left, bpf_of, load_path, other_types, sampled  # noqa: E402
from tmux import Terminal  # noqa: E402

CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)


def says(status, text, *command):
    """systop ends with this status, and a message with the failure, the cause and the remedy."""
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
                 ["-p", "x"], ["-p", "0"], ["-p", "1,"], ["-t", "x"], ["-t", "1,,2"], ["-F", "-1"],
                 ["--duration", "0"], ["--duration", "-1"], ["--duration", "x"], ["-s", "nocolumn"], ["--color=maybe"],
                 ["-c", ""], ["--clock=tsc"], ["-v", "-n", "1"], ["--log", "-b"], ["-o", "-d", "2"], ["-w", "-n"],
                 ["--pprof", "-n", "1"], ["-o", ""], ["--pprof", ""]):  # the file was forgotten
        fails(2, "bad value for " + args[0].split("=")[0], *args)
    for words in (["word"], ["1"], ["1", "2", "-w", "/dev/null"], ["-b", "1", "word"], ["-b", "1", "2", "3"]):
        fails(2, "the command to run must follow --", *words)
    fails(2, "bad value for -d", "-b", "0")
    fails(2, "bad value for -n", "-b", "1", "1.5")


def turkish():
    """Names of columns are found in upper and lower case also where i is not the lower case of I. The option after the filter ends
    the start."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", os.path.join(folder, "tr_TR.UTF-8")], check=True)
        for term in ("TID=1", "tid=1", "IRQ%>=0"):
            done = run("env", f"LOCPATH={folder}", "LC_ALL=tr_TR.UTF-8", SYSTOP, "--filter", term, "-n", "x")
            assert "bad value for -n" in done.stderr, (term, done.stderr)


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
    """A running systop of root has two capabilities and can get no others."""
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


# A kernel with a BPF scheduler, as /sys shows it; the rest of /sys/kernel stays.
SCHED_EXT = """old=$(mktemp -d) && mount --rbind /sys/kernel $old && mount -t tmpfs none /sys/kernel && cd $old || exit 1
for entry in *; do
	[ $entry = sched_ext ] && continue
	if [ -d $entry ]; then mkdir /sys/kernel/$entry; else : >/sys/kernel/$entry; fi
	mount --rbind $entry /sys/kernel/$entry || exit 1
done
mkdir -p /sys/kernel/sched_ext/root && echo $0 >/sys/kernel/sched_ext/state && echo 3 >/sys/kernel/sched_ext/enable_seq
[ $0 = disabled ] || echo simple_1.0 >/sys/kernel/sched_ext/root/ops
cd / && umount -l $old && rmdir $old
exec "$@"
"""


def sched_ext():
    """A BPF scheduler is named, and the programs load as they do for it."""
    systop = os.path.abspath(SYSTOP)
    for state, said in (("enabled", r"BPF programs \(sched_ext\): simple_1\.0; sleeps from before the start count from"),
                        ("disabled", r"the kernel's; BPF programs \(sched_ext\) were before; sleeps from before")):
        done = run("unshare", "-m", "sh", "-c", SCHED_EXT, state, systop, "--check")
        assert done.returncode == 0 and re.search(f"^scheduler +{said}", done.stdout, re.MULTILINE), done
        assert re.search("^BPF programs +ok ", done.stdout, re.MULTILINE), done
    done = run("unshare", "-m", "sh", "-c", SCHED_EXT, "enabled", systop, "-b", "-d", "0.5", "-n", "2")
    assert done.returncode == 0 and "COMM" in done.stdout, done
    if not os.path.exists("/sys/kernel/sched_ext"):
        done = run(systop, "--check")
        assert re.search("^scheduler +the kernel's$", done.stdout, re.MULTILINE), done


def refused():
    """If the kernel rejects a program, --check shows the kernel's own words without attaching anything, and -v
    writes them to a file."""
    with tempfile.TemporaryDirectory() as folder:
        systop = other_types(folder, "on_cpu")  # code that reads it is poisoned
        said = says(3, "systop: the kernel refuses BPF program seed_task: Invalid argument", *systop, "-b", "-n1")
        assert any(line.startswith("  why: ") and len(line) > 10 for line in said), said
        assert any("systop --check -v FILE" in line for line in said), said
        log = os.path.join(folder, "log")
        done = run(*systop, "--check", "-v", log)
        assert done.returncode == 3 and "verdict            systop cannot run here" in done.stdout, done
        assert re.search("^BPF programs +no +the kernel refuses program seed_task: Invalid argument\n +[^ ]", done.stdout,
                         re.MULTILINE), done.stdout
        assert "task_struct.on_cpu" in done.stdout or "relocation" in done.stdout, done.stdout
        with open(log) as f:
            words = f.read()
        for text in ("libbpf: prog 'seed_task': BPF program load failed", "-- BEGIN PROG LOAD LOG --", "-- END PROG LOAD LOG --"):
            assert text in words, f"no {text} in {len(words)} bytes of log"
    done = run(SYSTOP, "--check")
    assert done.returncode == 0 and re.search("^BPF programs +ok ", done.stdout, re.MULTILINE), done


def verbose():
    """-v: the steps of the start in order, then the output of --log; a new file is readable only for its owner."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        before = bpf_ids()
        done = run(SYSTOP, "-v", log, "--check")
        assert done.returncode == 0 and not bpf_left(before), (done, bpf_left(before))
        with open(log) as f:
            words = f.read()
        assert os.stat(log).st_mode & 0o777 == 0o600, oct(os.stat(log).st_mode)
        assert "libbpf: " in words and "sched_switch" in words, words[:300]
        done = run(SYSTOP, "-v", log, "--json", "-n1", "-d0.3")
        assert done.returncode == 0, done
        with open(log) as f:
            words = f.read()[len(words):]
        steps = re.findall(r"^[-0-9T:]+Z \+([0-9.]+) ms: (.*)$", words, re.MULTILINE)
        times = [float(ms) for ms, _ in steps]
        names = [name for _, name in steps]
        assert len(steps) > 8 and times == sorted(times), steps
        wanted = ["check the namespaces", "find the cgroup hierarchies", "load BPF programs", "attach BPF programs",
                  "give up rights", "started"]
        assert [name for name in names if name in wanted] == wanted, names
        assert words.index("load BPF programs") < words.index("libbpf: loading object") < words.index("attach BPF programs"), words[:2000]
        fails(2, "bad value for --log", "-v", log, "--log", f"{folder}/other", "-b", "-n1")
        os.symlink(log, f"{folder}/link")
        says(2, "it is a link", SYSTOP, "--check", "-v", f"{folder}/link")


def with_file(where, text, *args, then=None):
    """Runs systop with another file in place of `where`; `then` is written into it while systop runs."""
    with tempfile.NamedTemporaryFile("w", prefix="systop-file-") as f:
        f.write(text)
        f.flush()
        os.chmod(f.name, 0o644)
        command = ["unshare", "-m", "sh", "-c", f'mount --bind {f.name} {where} && exec "$@"', "sh", SYSTOP, *args]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as proc:
            if then:
                proc.stdout.readline()
                f.truncate(0)
                os.pwrite(f.fileno(), then.encode(), 0)
            out, err = proc.communicate(timeout=60)
    return proc.returncode, out, err


def slow_clock():
    """A clock that is a device is named with its cost, and refused without --force. Clocks of CPUs and hypervisors are accepted."""
    for name in ("hpet", "acpi_pm", "jiffies"):
        status, out, err = with_file(CLOCK, name + "\n", "-b", "-n1", "-d0.2")
        assert status == 3 and not out, (name, status, out, err)
        lines = err.splitlines()
        assert re.match(rf"systop: the kernel's clock is {name}, [0-9.]+ [nu]s a read, at every thread switch$", lines[0]), lines
        assert lines[1].startswith("  why: ") and lines[2].startswith("  fix: systop --force"), lines
        assert max(map(len, lines)) <= 80, lines
        status, out, err = with_file(CLOCK, name + "\n", "-b", "-n1", "-d0.2", "--force")
        assert status == 0 and "COMM" in out, (name, status, err)
        status, out, err = with_file(CLOCK, name + "\n", "--check")
        assert status == 3 and re.search(rf"^clock +slow {name}, ", out, re.MULTILINE), (name, status, out)
    for name in ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen", "arch_sys_counter"):
        status, out, err = with_file(CLOCK, name + "\n", "--check")
        assert status == 0 and re.search(rf"^clock +ok +{name}, ", out, re.MULTILINE), (name, status, out, err)


def clock_that_changes():
    """The health page shows the clock that the kernel reads now: the kernel takes another one if the CPUs' counters differ."""
    with tempfile.NamedTemporaryFile(prefix="systop-file-") as f, Terminal(120, 150) as t:
        os.chmod(f.name, 0o644)
        os.pwrite(f.fileno(), b"tsc\n", 0)
        t.run(f"unshare -m sh -c 'mount --bind {f.name} {CLOCK} && exec {SYSTOP} -d 0.2'")
        t.wait("TID")
        t.keys("!")
        t.wait("^ clock .*tsc, ")
        os.pwrite(f.fileno(), b"hpet\n", 0)
        t.wait("^ clock .*hpet, .*it slows down every switch", 5)


def lowered_rate():
    """If the kernel lowers the rate of samples, the messages at the end include that."""
    where = "/proc/sys/kernel/perf_event_max_sample_rate"
    args = ["--json", "-d0.3", "-n3"]
    said = "kernel.perf_event_max_sample_rate fell from 100000 to 25000 meanwhile"
    status, _, err = with_file(where, "100000\n", *args, then="25000\n")
    assert status == 0 and said in err.splitlines()[-1], (status, err)
    assert "sysctl -w kernel.perf_event_max_sample_rate=100000" in err and "--clock=cpu" in err, err
    for then in ("100000\n", "200000\n"):
        status, _, err = with_file(where, "100000\n", *args, then=then)
        assert status == 0 and not err, (then, status, err)


def too_often():
    """The kernel refuses samples above its limit: as many as it allows are taken, and the message says so."""
    where = "/proc/sys/kernel/perf_event_max_sample_rate"
    with Load("md5sum", "/dev/zero") as load:
        status, out, err = with_file(where, "500\n", "--json", "-F", "2000", "-d", "0.5", "-n", "2")
    assert status == 0 and "-F 2000: the kernel allows only 500 samples per second; fix: sysctl -w " in err, (status, err)
    taken = sampled(json.loads(out.splitlines()[-1]), load.pid, 500)
    assert 0.5 < taken < 1.5, f"{taken:.2f} of the samples"


def few_files():
    """With the fewest open files that it starts with, systop also shows a detail, saves a trace, and writes its config and log."""
    with tempfile.NamedTemporaryFile() as cpus:
        cpus.write(b"0-1023\n")
        cpus.flush()
        few = [run("unshare", "-m", "sh", "-c", f"{host}ulimit -n 20; {SYSTOP} --check").stdout
               for host in ("", f"mount --bind {cpus.name} /sys/devices/system/cpu/possible && ")]
    least, with_offline = (re.search("limit of open files is too low: 20 of ([0-9]+)", text).group(1) for text in few)
    assert with_offline == least, f"CPUs that are offline need files: {with_offline} instead of {least}"
    with tempfile.TemporaryDirectory() as folder, Terminal(120, 40, {"XDG_CONFIG_HOME": folder}) as t:
        t.run(f"cd {folder}; ulimit -n {least}; clear")
        t.start("-d", "0.5", "--log", f"{folder}/log")
        t.keys("Enter")
        t.wait("q back")
        time.sleep(1)  # helpers are busy with it
        t.keys("w", "W")
        t.wait(f"config written: {folder}")
        t.wait(r"saved \S+\.pb")


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
    """A signal ends systop within a second, its exit status is that of the signal, and no BPF program is left."""
    before = bpf_ids()
    with subprocess.Popen([SYSTOP, *args], stdout=subprocess.PIPE) as proc:
        proc.stdout.readline()
        assert bpf_of(proc.pid), "no BPF program while it runs?"
        proc.send_signal(number)
        began = time.monotonic()
        proc.stdout.read()
        status = proc.wait(10)
        took = time.monotonic() - began
    assert status == -number, status
    assert took < 1, f"{took:.1f} s"
    assert not bpf_left(before), bpf_left(before)


def reader_gone():
    """If the other end of the pipe closes, systop ends silently."""
    before = bpf_ids()
    with subprocess.Popen([SYSTOP, "--json", "-d", "0.2"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as proc:
        proc.stdout.readline()
        proc.stdout.close()
        assert proc.wait(5) == -signal.SIGPIPE, proc.returncode
        assert not (said := proc.stderr.read()), said
    assert not (left := bpf_left(before)), f"BPF programs {left} stay"


def target_gone():
    """The processes of -p end: the last refresh is shown, then the reason why no more follow."""
    with subprocess.Popen(["sleep", "2.5"]) as load:
        done = run(SYSTOP, "--json", "-d", "0.5", "-n", "60", "-p", str(load.pid))
    assert done.returncode == 5, done
    assert 2 <= len(done.stdout.splitlines()) <= 8, done
    assert f"systop: sleep {load.pid} exited by " in done.stderr, done.stderr
    # A forked process is in scope, too: the run continues until it has ended.
    with subprocess.Popen(["sh", "-c", "sleep 3; sleep 2.5 &"]) as load:
        done = run(SYSTOP, "--json", "-d", "0.5", "-n", "60", "-p", str(load.pid))
    assert done.returncode == 5 and len(done.stdout.splitlines()) >= 5, done


def bad_config():
    """--print-config reports that what it prints is not from the config file."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rc"
        with open(path, "w") as f:
            f.write("[look]\ncolor = secret\n")
        done = run("env", f"SYSTOPRC={path}", SYSTOP, "--print-config")
        assert done.returncode == 0 and "color = auto" in done.stdout, done
        assert done.stderr == (f"systop: {path}, line 2: color: expected one of: auto always never; "
                               "defaults are used\n"), done.stderr


def zone_of_fifo():
    """TZ names a FIFO: the start does not wait for its writer; a file is read."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # systop has given up its rights when it first needs the zone
        os.mkfifo(f"{folder}/fifo")
        with open(f"{folder}/file", "wb") as f:  # one type: 5 h 30 min east of UTC
            f.write(b"TZif" + bytes(16) + struct.pack(">6I", 0, 0, 0, 0, 1, 4) + struct.pack(">iBB", 19800, 0, 0) + b"IST\0")
        shown = {}
        for zone in "UTC", f"{folder}/fifo", f":{folder}/fifo", f"{folder}/file":
            done = subprocess.run([SYSTOP, "-b", "-n", "1", "-d", "0.2"], capture_output=True, text=True, check=True, timeout=60,
                                  stdin=subprocess.DEVNULL, env=os.environ | {"TZ": zone})
            at = datetime.datetime.fromisoformat(re.search(r"\d+-\d+-\d+ \d+:\d+:\d+", done.stdout).group())
            shown[zone] = round((at - datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)).total_seconds() / 1800)
        assert list(shown.values()) == [0, 0, 0, 11], shown


def disk_full():
    with open("/dev/full", "w") as full:
        done = subprocess.run([SYSTOP, "--json", "-d", "0.2", "-n", "2"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "cannot write the output" in done.stderr, done
    for option in ("--help", "--version", "--list-cgroups", "--print-config", "--schema"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([SYSTOP, option], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1 and "cannot write the output: No space" in done.stderr, (option, done)


def closed(*fds):
    """Closed standard files: systop opens nothing under their numbers, and output without a reader is an error."""
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
    tap.case("a bad config", bad_config)
    tap.case("unknown option", unknown_option)
    if os.path.exists("/usr/share/i18n/locales/tr_TR"):
        tap.case("names of columns in Turkish", turkish)
    else:
        tap.skip("names of columns in Turkish", "no sources of locales")
    tap.case("unknown cgroup, with suggestions", no_cgroup)
    tap.case("ambiguous cgroup", ambiguous)
    tap.case("unknown process", fails, 5, "no process with PID 4194303", "-b", "-p", "4194303")
    tap.case("unknown thread", fails, 5, "no thread with TID 4194303", "-b", "-t", "4194303")
    tap.case("unknown user", fails, 5, 'no user "nosuchuser"', "-b", "-u", "nosuchuser")
    tap.case("no rights, some rights", no_rights)
    tap.case("least rights", least_rights)
    tap.case("rights are dropped", rights_dropped)
    tap.case("no BTF", no_btf)
    tap.case("a scheduler of BPF programs", sched_ext)
    tap.case("a program is refused", refused)
    tap.case("-v", verbose)
    tap.case("a slow clock", slow_clock)
    tap.case("a clock that changes", clock_that_changes)
    tap.case("a sample rate that fell", lowered_rate)
    tap.case("more samples than the kernel allows", too_often)
    tap.case("few open files", few_files)
    tap.case("what works without root", without_root)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"):
        tap.case(f"{name} with --json", ends, getattr(signal, name), "--json", "-d", "0.2")
        tap.case(f"{name} with -b", ends, getattr(signal, name), "-b", "-d", "0.2")
    tap.case("the reader goes away", reader_gone)
    tap.case("what -p asked for ends", target_gone)
    tap.case("TZ is a FIFO", zone_of_fifo)
    tap.case("full disk", disk_full)
    for fds in ((0,), (1,), (2,), (0, 1, 2)):
        tap.case(f"closed at the start: {fds}", closed, *fds)
    tap.done()


main()
