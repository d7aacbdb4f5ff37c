# SPDX-License-Identifier: GPL-2.0-or-later
"""What users are used to from htop, top, perf and vmstat: keys in the presets systop and htop, users, the delay, options."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "bpf")]
from harness import Load, load_path  # noqa: E402
from tmux import SYSTOP, Tap, Terminal, ended, gone, skip_reason  # noqa: E402

# A process with two threads, of nobody, and one that has used a known time.
THREADS = ("import threading, time\nt = threading.Thread(target=time.sleep, args=(100,), daemon=True)\nt.start()\n"
           "print('{\"tids\": [%d, %d]}' % (threading.get_native_id(), t.native_id), flush=True)\ntime.sleep(100)")


def nobody():
    os.setgid(65534)
    os.setuid(65534)


def preset(name):
    """A config file with this preset only."""
    f = tempfile.NamedTemporaryFile("w", suffix=".systoprc")
    f.write(f"[keys]\npreset = {name}\n")
    f.flush()
    os.chmod(f.name, 0o600)
    return f


def sorts(keys, name):
    """Keys that sort: checks the status line and the order of the rows."""
    with preset(name) as config, Terminal(100, 30, {"SYSTOPRC": config.name}) as t:
        t.start("--view", "processes")
        for key, column in keys.items():
            t.keys(key)
            t.wait(rf"sort {re.escape(column)} (desc|asc)")
        t.keys("P", "I")
        t.wait("sort RUN% asc")


def sort_menu(key, name):
    with preset(name) as config, Terminal(100, 30, {"SYSTOPRC": config.name}) as t:
        t.start()
        t.keys(key)
        t.wait("^Sort by$")
        t.keys("Escape")
        t.wait(r"TID S")


def shows(name):
    """H, K, t, F, /, \\ mean the same in both presets."""
    with Load(sys.executable, "-c", THREADS) as load:
        one, two = load.truth()["tids"]
        with preset(name) as config, Terminal(100, 30, {"SYSTOPRC": config.name}) as t:
            t.start("-p", str(load.pid))
            t.wait(rf"^.? +{two} ")
            t.keys("H") # user threads are gone, their process is there
            t.wait("PID S")
            t.wait(rf"^> +{one} ")
            assert not re.search(rf"^.? +{two} ", t.screen(), re.MULTILINE), t.screen()
            t.keys("H")
            t.wait(rf"^.? +{two} ")
            t.keys("t")
            t.wait(r"PID S COMMAND|PID S .*COMM")
            t.keys("t")
            t.wait("TID S")
            t.keys("F")
            t.wait("following")
            t.keys("F", "/")
            t.type("python")
            t.keys("Enter")
            t.wait("[12] match")
            t.keys("Escape", "\\")
            t.type("nothing-of-this-name")
            t.keys("Enter")
            t.wait("0 of 2 threads +filter nothing-of-this-name")


def kernel_threads(name):
    with preset(name) as config, Terminal(100, 30, {"SYSTOPRC": config.name}) as t:
        t.start()
        t.keys("/")
        t.type("ksoftirqd/0")
        t.keys("Enter")
        t.wait("1 match")
        t.keys("K")
        t.wait("0 match")
        t.keys("K")
        t.wait("1 match")


def users(name):
    """u lists users; the choice is a term of the filter, beside others."""
    with Load(load_path("spin"), "user", "60", preexec=nobody) as load:
        load.truth()
        with preset(name) as config, Terminal(80, 24, {"SYSTOPRC": config.name}) as t:
            t.start("--view", "processes")
            t.keys("\\")
            t.type("spin")
            t.keys("Enter")
            t.wait("filter spin")
            t.keys("u")
            t.wait("^Show only what belongs to$")
            t.wait("^> all users")
            t.wait(r"^  root +\d+ processes")
            t.wait(r"^  nobody +\d+ process")
            for _ in range(20):  # users of other tests come and go
                if any(line.startswith("> nobody ") for line in t.lines()):
                    break
                t.keys("Down")
                time.sleep(0.1)
            t.keys("Enter")
            t.wait("filter spin user=nobody")
            t.wait(rf"^> +{load.pid} ")
            t.keys("u", "Down", "Enter") # another one in its place
            t.wait("filter spin user=root")
            t.wait(r"[0-9]+ of")
            assert not re.search(rf"^.? +{load.pid} ", t.screen(), re.MULTILINE), t.screen()
            t.keys("u", "Enter")
            t.wait("filter spin  sort")
            t.wait(rf"^.? +{load.pid} ")
            t.keys("u", "Escape")
            t.wait("filter spin  sort")


def refreshes(t, seconds):
    """Number of different refreshes seen in @seconds, by the times and shares of the CPUs in the header."""
    seen = set()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        seen.add(tuple(t.lines()[:2]))
        time.sleep(0.02)
    return len(seen)


def delay(name):
    """d prompts, refuses values outside of 0.1 to 60 s, and the screen is refreshed as often as requested."""
    with preset(name) as config, Terminal(80, 24, {"SYSTOPRC": config.name}) as t:
        t.start("-d", "5")
        t.keys("d")
        t.wait(r"^refresh every \(0\.1 to 60 s\): 5s")
        for wrong in "0.05", "61", "1x", "soon":
            t.keys("C-u")
            t.type(wrong)
            t.keys("Enter")
            t.wait(rf"^refresh every .*: {re.escape(wrong)}$\n^ +\^ expected 0.1 to 60 seconds")
        t.keys("C-u")
        t.type("200ms")
        t.keys("Enter")
        t.wait("LIVE 0.2s")
        # Some of ten are late, or are not seen, on a busy machine.
        assert (few := refreshes(t, 2)) >= 4, f"{few} refreshes in 2 s"
        t.keys("d", "C-u")
        t.type("60")
        t.keys("Enter")
        t.wait("LIVE 60s")
        time.sleep(0.5)
        assert (many := refreshes(t, 1.5)) == 1, f"{many} refreshes in 1.5 s"
        t.keys("d", "Escape")
        t.wait("LIVE 60s")


def cpu_time():
    """TIME+ is the kernel's own sum, of a thread and of a process with ended threads."""
    script = ("import threading, time\n"
              "def burn(s):\n    until = time.thread_time() + s\n    while time.thread_time() < until: pass\n"
              "burn(1.5)\nprint('{}', flush=True)\ntime.sleep(1.5)\n"
              "t = threading.Thread(target=burn, args=(1,))\nt.start()\nt.join()\nprint('{}', flush=True)\ntime.sleep(100)")
    with Load(sys.executable, "-c", script) as load, Terminal(100, 24) as t:
        load.truth()
        t.start("-p", str(load.pid), "-d", "0.3")
        t.keys("T")
        t.wait(r"sort TIME\+ desc")
        found = t.wait(rf"^> +{load.pid} .* (\d\.\d)s python")
        with open(f"/proc/{load.pid}/task/{load.pid}/schedstat") as f:
            kernel = int(f.read().split()[0]) / 1e9
        assert abs(float(found.group(1)) - kernel) < 0.15, (found.group(0), kernel)
        load.truth()
        t.keys("H")
        t.wait("PID S")
        t.keys("T")
        until = time.monotonic() + 10
        while time.monotonic() < until: # its second thread has ended
            found = t.wait(rf"^> +{load.pid} .* (\d\.\d)s python")
            with open(f"/proc/{load.pid}/stat") as f:
                user, system = f.read().rpartition(")")[2].split()[11:13]
            kernel = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
            if abs(float(found.group(1)) - kernel) < 0.2:
                return
            time.sleep(0.2)
        raise AssertionError((found.group(0), kernel))


def everything():
    """3 shows the flamegraph of everything in scope, f that of the selected row."""
    with Load(load_path("burn"), "cpu", "60") as load, Load(load_path("spin"), "user", "60") as other, Terminal(100, 30) as t:
        tid = load.truth()["tid"]
        t.start("-p", f"{load.pid},{other.pid}", "-F", "199")
        t.wait(rf"^.? +{tid} ")
        t.keys("3")
        t.wait(r"\[3:Flame\] 4:Latency")
        t.wait(r"^\[all ")
        t.keys("m") # by process
        t.wait(r"\{burn +\}")
        t.wait(r"\{spin +\}")
        t.keys("BTab")
        t.wait(r"\[2:Cgroups\]")
        t.keys("3")
        t.wait(r"\{burn +\}") # as it was left
        t.keys("1", "/")
        t.type(str(tid))
        t.keys("Enter", "f")
        t.wait(rf"\[1:Threads\] > burn {tid} flame")
        t.keys("q", "q")
        t.wait("sort RUN%")
        t.keys("q")
        t.wait(r"^\$ ?$")
        t.run(f"{SYSTOP} --view flame -p {load.pid}")
        t.wait(r"\[3:Flame\]")


def started(seconds, first, *args):
    """The time from the first screen to the shell's prompt."""
    with Terminal(80, 24) as t:
        t.run(" ".join([SYSTOP, *args]))
        t.wait(first)
        pid = t.systop_pid()
        began = time.monotonic()
        assert gone(pid, seconds + 20), "it goes on"
        took = time.monotonic() - began
        t.wait(r"^\$ ?$")
        # systop began a little before its screen was seen, and a busy machine delays its end.
        assert seconds - 2 <= took <= seconds + 15, took


def command():
    """A command that runs while the screen uses the terminal does not disturb it: its output is dropped, and it reads no keys."""
    with tempfile.TemporaryDirectory() as folder, Terminal(80, 24) as t:
        t.start("--", "sh", "-c", f"'for i in 1 2 3 4 5 6 7 8 9; do echo OUTPUT; sleep 0.1; done; cat > {folder}/keys; "
                                  f"echo read > {folder}/ended; sleep 60'")
        t.wait("is dropped")
        for _ in range(2):
            time.sleep(1)
            assert not re.search(r"^ *OUTPUT", t.screen(), re.MULTILINE), t.screen()
        t.keys("2")
        t.wait("CGROUP")
        assert os.path.exists(f"{folder}/ended") and not os.path.getsize(f"{folder}/keys")
        t.keys("q")
        t.wait(r"^\$ ?$")


def threads_first():
    with tempfile.NamedTemporaryFile("w", suffix=".systoprc") as config:
        config.write("[view]\nstart = processes\n")
        config.flush()
        os.chmod(config.name, 0o600)
        with Terminal(80, 24, {"SYSTOPRC": config.name}) as t:
            t.start()
            t.wait("PID S")
            t.keys("q")
            t.wait(r"^\$ ?$")
            t.run("clear")
            t.start("-H")
            t.wait("TID S")


def one_thread():
    """-t on the screen: the header shows it, there are no other rows, and its end is reported."""
    script = ("import signal, threading, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
              "t = threading.Thread(target=signal.sigwait, args=([signal.SIGUSR1],))\nt.start()\n"
              "print('{\"tid\": %d}' % t.native_id, flush=True)\ntime.sleep(100)")
    with Load(sys.executable, "-c", script) as load, Terminal(80, 24) as t:
        tid = load.truth()["tid"]
        pid = t.start("-t", str(tid), "-d", "0.5")
        t.wait(rf"scope thread {tid}\b")
        t.wait("1 of 1 threads")
        t.wait(rf"^> +{tid} ")
        load.signal(signal.SIGUSR1)
        t.wait(rf" {tid} exited by [0-9:]+")
        assert not ended(pid), "the screen stays"


def no_sampler():
    """-F 0 samples nothing and reports it; + begins."""
    with Terminal(100, 40) as t:
        t.start("-F", "0")
        t.keys("!")
        t.wait(r"^ sample +off +by -F 0")
        t.keys("!", "3")
        t.wait("unwound - .* no stack 100%")
        t.wait(" at 0 Hz")
        t.keys("-")
        t.wait("^0 samples a second")
        t.keys("+")
        t.wait("19 samples a second")
        t.wait(r"unwound \d+% ")


def many_samples():
    """If -F asks for more samples than + can, + does not reduce them."""
    with Terminal(100, 40) as t:
        t.start("-F", "1500")
        t.keys("3")
        t.wait(" at 1500 Hz")
        t.keys("+")
        t.wait("1500 samples a second")
        t.keys("-")
        t.wait("997 samples a second")


def helps():
    """The keys of the place come first; with the preset htop the help lists what differs from htop."""
    with Terminal(80, 24) as t:
        t.start()
        t.keys("?")
        t.wait(r"^Keys here$\n^ /  +search as you type$")
        t.keys("q", "3", "?")
        t.wait(r"^Keys here$\n(^.*$\n)?^ Enter  +flame: the selected box fills the width$")
    with preset("htop") as config, Terminal(100, 50, {"SYSTOPRC": config.name}) as t:
        t.start()
        t.keys("h")
        for text in ("Keys of htop that differ here", r"c Space U +no tags", r"k F9 F7 F8 i Y +nothing is killed"):
            for _ in range(5):
                if re.search(text, t.screen()):
                    break
                t.keys("PPage" if _ == 4 else "NPage")
                time.sleep(0.3)
            assert re.search(text, t.screen()), (text, t.screen())


# Keys of the list of htop (Action.c, 3.5), except Space and those that are never one character.
HTOP = "# * + , - . / < = > ? C F H I K M N O P S T U Y Z [ \\ ] a b c e h k l m p q s t u w x".split()


def every_key_of_htop():
    """Each key of htop does what it does there, or the help says what it does here, or why it does nothing."""
    config = subprocess.run([SYSTOP, "--print-config"], capture_output=True, text=True, check=True,
                            env={**os.environ, "SYSTOPRC": PRESET_HTOP.name}).stdout
    bound = {key for keys in re.findall(r"^# [a-z0-9-]+ = (.*)$", config.partition("[keys]\n")[2], re.MULTILINE)
             for key in keys.split()}
    with preset("htop") as file, Terminal(100, 200, {"SYSTOPRC": file.name}) as t:
        t.start()
        t.keys("h")
        t.wait("Keys of htop that differ here")
        said = set(re.findall(r"\S+", "\n".join(line[:15] for line in t.screen().partition("differ here")[2].partition("Columns")[0].split("\n"))))
    missing = [key for key in HTOP if key not in bound | said]
    assert not missing, (missing, sorted(bound), sorted(said))


def size(width, height, lines):
    """The first lines of the header, readable at this size."""
    with Terminal(width, height) as t:
        t.start()
        t.wait("BUF [1-9]")
        screen = t.lines()[:height]
        assert max(map(len, screen)) <= width, screen
        for line, pattern in zip(screen, lines):
            assert re.search(pattern, line), (pattern, line)
        for line in (screen[0], screen[2]):
            assert len(line) == width, f"its right part is at column {len(line)}: {line}"


PRESET_HTOP = preset("htop")

SORTS = {"systop": {"r": "MEM%", "T": "TIME+", "P": "RUN%", "N": "PID", "M": "RQ-MAX", "L": "RQ-P99", "D": "D%"},
         "htop": {"M": "MEM%", "T": "TIME+", "P": "RUN%", "N": "PID", "X": "RQ-MAX"}}


def main():
    why = skip_reason()
    if why:
        print(f"1..0 # SKIP {why}")
        return
    tap = Tap()
    for name, keys in SORTS.items():
        tap.case(f"{name}: keys that sort", sorts, keys, name)
        tap.case(f"{name}: H t F / \\", shows, name)
        tap.case(f"{name}: K", kernel_threads, name)
        tap.case(f"{name}: u", users, name)
        tap.case(f"{name}: d", delay, name)
    for key, name in (".", "systop"), ("F6", "systop"), (",", "htop"), (".", "htop"), ("F6", "htop"):
        tap.case(f"{name}: {key}", sort_menu, key, name)
    tap.case("every key of htop", every_key_of_htop)
    tap.case("TIME+ is the kernel's", cpu_time)
    tap.case("3 and f", everything)
    tap.case("--duration ends the screen", started, 3, "TID", "--duration", "3")
    tap.case("--duration ends any view", started, 3, r"\[4:Latency\]", "--view", "latency", "-d", "10", "--duration", "3")
    tap.case("-n ends the screen after its intervals", started, 3, "TID", "-d", "3", "-n", "1")
    tap.case("-- COMMAND", command)
    tap.case("-H", threads_first)
    tap.case("-t", one_thread)
    tap.case("-F 0", no_sampler)
    tap.case("-F 1500", many_samples)
    tap.case("help", helps)
    tap.case("the header at 80x24", size, 80, 24, (
        r"^systop \S+ \d\d:\d\d:\d\d LIVE 1s  scope all \d+ cgroups?  up \S+ +self \S+% \S+$",
        r"^CPU \d+% of \d+ us\d+ sy\d+ hi\S+ si\d+ st\S+ .*RUNQ p99 ~\S+  D \d+ +LOSS \d+",
        r"^MEM [\d.]+[KMGT]?/[\d.]+[KMGT] (\[.*\])? ?swap \S+  load [\d.]+  STACKS unwound .* named .* +BUF \d+s$"))
    tap.case("the header at 200x50", size, 200, 50, (
        r"^systop \S+ \d\d:\d\d:\d\d LIVE 1s  scope all \d+ cgroups?  up \S+ +self cpu \S+% rss \S+ bpf \S+$",
        r"^CPU \d+% of \d+ us.* \[.*\]  RUNQ p50 ~\S+ p99 ~\S+ max \S+  D \d+ +LOSS \d+",
        r"^MEM \S+ \[.*\] swap \S+.*  load [\d.]+ [\d.]+ [\d.]+  STACKS unwound .* functions .* named .*  BUF \d+s +v\S+  kernel "))
    tap.done()


main()
