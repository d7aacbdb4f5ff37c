# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys of the full screen, on a real terminal with real threads."""

import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from tmux import SYSTOP, Tap, Terminal, skip_reason  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "bpf"))
from harness import Cgroup  # noqa: E402


def drill():
    """cgroup -> processes -> threads -> detail, and back to the same rows."""
    with Terminal(100, 34) as t:
        t.start("--view", "cgroups")
        t.keys("Enter")
        t.wait(r"\[2:Cgroups\] > /")
        t.wait("PID")
        t.keys("N", "g", "j")
        pid = t.wait(r"^ +PID.*\n +\d+ .*\n> +(\d+) ").group(1)
        t.keys("Enter")
        t.wait(rf"> / > \S+ {pid} ")
        t.wait("TID")
        t.keys("Enter")
        t.wait("detail")
        t.wait("RUNQUEUE WAITS")
        t.wait("policy +SCHED_")
        t.keys("q")
        t.wait("TID")
        t.keys("Escape")
        t.wait(rf"^> +{pid} ")
        t.keys("q")
        t.wait("^ CGROUP ")
        t.keys("q")
        t.wait(r"^\$ ?$")


def commands():
    """COMMAND is the command line, after the name that a thread gives itself; a key changes what it shows. Search and detail use
    the whole command line, and escape sequences in it are text."""
    script = "import ctypes, time; ctypes.CDLL(None).prctl(15, b'selfnamed', 0, 0, 0)\nwhile True: time.sleep(0.01)"
    with subprocess.Popen([sys.executable, "-c", script, "needle \x1b[7mhay", "x" * 1000, "end"]) as program, \
            Terminal(140, 120) as t:
        try:
            row = rf"^>? +{program.pid} .* "
            t.start("-d", "0.5", "-p", str(program.pid))
            t.wait(row + r"selfnamed \| .*python")
            t.keys("C")
            t.wait(" COMM *$")
            t.wait(row + r"selfnamed *$")
            t.keys("C")
            t.wait(" COMMAND *$")
            t.wait(row + r"(/\S*)?python\S* -c import")
            t.keys("C")
            t.wait(row + r"selfnamed \| ")
            t.keys("/")
            t.type("NEEDLE")
            t.keys("Enter")
            t.wait("1 match")
            t.keys("v")
            t.wait("^command +.*python")
            t.keys("G")
            t.wait(r"^ +3 +needle \\x1b\[7mhay *$")
            t.wait("^ +5 +end *$")
        finally:
            program.kill()


def commands_as_in_htop():
    with tempfile.NamedTemporaryFile("w") as config:
        config.write("[keys]\npreset = htop\n[look]\ncommand = line\n")
        config.flush()
        with Terminal(100, 24, {"SYSTOPRC": config.name}) as t:
            t.start()
            t.wait(" COMMAND *$")
            t.keys("m")
            t.wait("names where they differ")
            t.keys("m")
            t.wait(" COMM *$")


def past():
    """[ goes back in time, ] and Space come back."""
    with Terminal(80, 24) as t:
        t.start("-d", "0.2")
        t.wait(r"\b0\.2s")
        t.keys("Space")
        t.wait("PAUSED -[1-9]s")  # arguments of processes that were born last still come
        first = t.lines()[5:20]
        t.wait("PAUSED -[3-9]s")
        assert t.lines()[5:20] == first, "rows moved while paused"
        t.keys("{")
        t.wait("PAUSED -[4-9]s")
        before = t.lines()[5:20]
        t.keys("]", "[")
        time.sleep(0.3)
        assert t.lines()[5:20] == before, "a refresh on and one back is another one"
        t.keys("Space")
        t.wait("LIVE")


def past_of_one_that_ended():
    """A flamegraph of the past keeps its line of time when its process has ended."""
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as load, Terminal(80, 24) as t:
        t.start("-d", "0.2", "-p", str(load.pid))
        t.wait(rf"> +{load.pid} ")
        t.keys("f")
        t.wait("On-CPU, [1-9][0-9] refreshes")
        t.keys("Space")
        t.wait("^time .* now$")
        load.kill()
        load.wait()
        t.wait("PAUSED -[2-9]s")
        t.wait("^time .* now$", 1)
        t.keys("Space")
        t.wait("LIVE")
        t.wait("^time .*[▁-█].* now$", 1)


def policy():
    """The detail of a sleeping thread shows what chrt changed meanwhile; in the past it shows which facts are present ones."""
    with subprocess.Popen(["sleep", "60"]) as program, Terminal(100, 40) as t:
        t.start("-d", "0.3", "-p", str(program.pid), "--view", "threads")
        t.keys("Enter")
        t.wait("policy +SCHED_OTHER nice 0 ")
        os.sched_setscheduler(program.pid, os.SCHED_FIFO, os.sched_param(20))
        t.wait("policy +SCHED_FIFO priority 20 ")
        t.keys("[")
        t.wait(" may now run on CPU .* now last on ")
        program.kill()


def page_tables_between_refreshes():
    """Page tables are shown when a helper has read them, and not only by the next refresh."""
    with subprocess.Popen(["sleep", "60"]) as one, subprocess.Popen(["sleep", "60"]) as two, Terminal(100, 40) as t:
        t.start("-d", "60", "-p", f"{one.pid},{two.pid}", "--view", "threads")
        t.keys("N", "g", "Enter")
        t.wait(r"^mapped pages: .*\(PSS\)$")
        t.keys("q")
        time.sleep(2)  # other things that are read at first draw the screen, too
        t.keys("j", "Enter")
        t.wait(rf"^process +sleep, pid {two.pid},")
        t.wait(r"^mapped pages: .*\(PSS\)$")
        one.kill()
        two.kill()


def detail_of_one_that_ended():
    """After a process that waited has ended, its detail shows the last refresh that has it, and its flamegraph shows only this
    process."""
    loads = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]
    try:
        for load in loads:
            os.sched_setaffinity(load.pid, {min(os.sched_getaffinity(0))})
        pid = loads[0].pid
        with Terminal(100, 40) as t:
            t.start("-d", "0.2", "-p", str(pid))
            t.keys("8")
            t.wait(rf"^> .* sh {pid} ")
            for load in loads:
                load.kill()
                load.wait()
            t.wait(" 0 cgroups ")
            t.keys("Enter")
            t.wait(rf"^process +sh, pid {pid},")
            t.wait(f"sh {pid} is gone: its last refresh")
            t.keys("f")
            t.wait(rf"> sh {pid} flame")
            t.wait("^time .*[▁-█].* now$")
    finally:
        for load in loads:
            load.kill()
            load.wait()


def flame_of_one_that_ended():
    """In the list of threads of a process that has ended, f still opens the flamegraph of this process."""
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as load, Terminal(100, 40) as t:
        t.start("-d", "0.2", "-p", str(load.pid))
        t.keys("H")
        t.wait(rf"^> +{load.pid} ")
        t.keys("Enter")
        t.wait(rf"> sh {load.pid} +\?")
        load.kill()
        load.wait()
        t.wait(" 0 cgroups ")
        t.keys("f")
        t.wait(rf"> sh {load.pid} > sh {load.pid} flame")
        t.wait("^time .*[▁-█].* now$")


def cgroups_in_scope():
    """With -c, only cgroups whose threads are in scope have numbers. Those of others are unknown, not 0."""
    cgroups = [Cgroup(f"systop-scope-{os.getpid()}-{i}") for i in range(2)]
    loads = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in cgroups]
    try:
        for cgroup, load in zip(cgroups, loads):
            cgroup.add(load.pid)
        with Terminal(100, 50) as t:
            t.start("-c", cgroups[0].name, "--view", "cgroups")
            t.wait(rf"{cgroups[0].name} .* [1-9][0-9.]+ ")
            assert cgroups[1].name not in t.screen(), t.screen()
            t.keys("Q")
            t.wait(r"^\$ ?$")
            t.start("--view", "cgroups")
            for cgroup in cgroups:
                t.wait(rf"{cgroup.name} .* [1-9][0-9.]+ ")
    finally:
        for load in loads:
            load.kill()
            load.wait()
        for cgroup in cgroups:
            cgroup.remove()


def filters():
    with Terminal(100, 24) as t:
        pid = t.start()
        t.keys("\\")
        t.wait("^filter:")
        t.type("cpu>x")
        t.keys("Enter")
        t.wait(r"^ +\^ not a number: x")
        t.keys("C-u")
        t.type(f"comm=systop pid={pid}")
        t.keys("Enter")
        t.wait(f"filter comm=systop pid={pid}")
        t.wait("1 of [0-9]+ threads")
        t.keys("=")
        t.wait(r"sort RUN%")
    done = subprocess.run([SYSTOP, "--filter", "cg:a nosuch>5"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and "no column nosuch" in done.stderr, done
    assert "column 6" in done.stderr, done.stderr


def search():
    with Terminal(80, 24) as t:
        t.start()
        t.keys("/")
        t.type("ksoftirqd")
        t.keys("Enter")
        t.wait(r"^> .*ksoftirqd")
        t.wait(r"[0-9]+ match")
        one = t.wait(r"^> +(\d+) ").group(1)
        t.keys("n")
        t.wait(rf"^> +(?!{one} )\d+ .*ksoftirqd")
        t.keys("Escape")


def options():
    with Terminal(100, 30) as t:
        t.start()
        t.keys("o", "Enter")
        t.wait(r"^Columns$")
        t.keys("j")
        t.wait(r"^> \[ \] PID")
        t.keys("Space")
        t.wait(r"^> \[x\] PID")
        t.keys("Escape")
        t.wait(r"TID +PID")
        t.keys("E")
        t.wait(r" RUNv ")
        t.keys("!")
        t.wait("^Probes")
        t.wait(r"sched_switch +on ")


def config():
    """W writes the changes, and the next start has them; a broken file gives defaults and a notice."""
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "systop", "systoprc")
        env = {"XDG_CONFIG_HOME": home}
        with Terminal(100, 24, env) as t:
            t.start()
            t.keys("M", "E", "W")
            t.wait(f"config written: {path}")
            t.keys("q")
        with open(path) as f:
            text = f.read()
        assert "sort = runq_max_ns" in text and "units = time" in text, text
        with open(path, "w") as f:
            f.write("# mine\n[other]\nx = y\n" + text + "pause = p\n")
        with Terminal(100, 24, env) as t:
            t.start()
            t.wait("sort RQ-MAX")
            t.keys("p")
            t.wait("PAUSED")
            t.keys("W")
            t.wait("config written")
        with open(path) as f:
            again = f.read()
        assert again.startswith("# mine\n[other]\nx = y\n") and "pause = p" in again, again
        with open(path, "w") as f:
            f.write("[view]\nsort = secret\n")
        with Terminal(200, 24, {**env, "TERM": "nosuchterm"}) as t:
            t.start()
            t.wait(r"systoprc, line 2: ")
            t.wait("sort: expected a column's name")
            t.wait("; no terminfo for TERM=nosuchterm")
            assert "secret" not in t.screen(), t.screen()
            with open(path, "w") as f:
                f.write("[view]\nsort = d_ns\n")
            t.keys("W")
            t.wait("config NOT written: it was not used at the start, correct it and start systop again")
        with open(path) as f:
            assert (again := f.read()) == "[view]\nsort = d_ns\n", again
        os.chmod(path, 0o666)
        with Terminal(100, 24, env) as t:
            t.start()
            t.wait("can be written by others")


def full_disk():
    """W on a full disk: reported, nothing left behind, the old file unchanged."""
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "none", home], check=True)
        try:
            path = os.path.join(home, "systoprc")
            with open(path, "w") as f:
                f.write("[view]\nsort = d_ns\n")
            os.chmod(path, 0o600)
            with open(os.path.join(home, "filler"), "wb", buffering=0) as f:
                try:
                    for _ in range(64):
                        f.write(b"x" * 1024)
                except OSError:
                    pass
            with Terminal(100, 24, {"SYSTOPRC": path}) as t:
                t.start()
                t.keys("M", "W")
                t.wait("config NOT written: .*No space left on device")
                t.keys("q")
                t.wait(r"^\$ ?$")
            assert sorted(os.listdir(home)) == ["filler", "systoprc"], os.listdir(home)
            with open(path) as f:
                assert (text := f.read()) == "[view]\nsort = d_ns\n", text
        finally:
            subprocess.run(["umount", home], check=True)


def saves():
    """w saves the window; Escape cancels the save, and quitting does not. Gaps are switches that the kernel did not report: on some
    machines those of process 1's threads."""
    with tempfile.TemporaryDirectory() as folder, Terminal(80, 24) as t:
        path = os.path.join(folder, "t.pb")
        t.start("-o", path)
        t.wait("BUF [1-9]")
        t.keys("w")
        t.wait(saved := rf"saved {path}: .* 0 lost, \d+ gaps")
        os.unlink(path)
        t.keys("w", "Escape")
        t.wait("cancelled")
        assert not os.listdir(folder), os.listdir(folder)
        t.keys("w", "q")
        t.wait(f"^systop: {saved}")
        t.wait(r"^\$ ?$")
        assert os.listdir(folder) == ["t.pb"], os.listdir(folder)


def saves_before_a_refresh():
    """A trace ends when w is pressed, however far away the next refresh is."""
    with tempfile.TemporaryDirectory() as folder, Terminal(80, 24) as t:
        path = os.path.join(folder, "t.pb")
        t.start("-d", "60", "-o", path)
        t.wait("BUF")
        time.sleep(2)
        t.keys("w")
        t.wait(rf"saved {path}: .* [1-9]\d*\.\d s, ")
        t.keys("q")
        t.wait(r"^\$ ?$")


def truecolor():
    """24-bit colours only if both the terminal's description and COLORTERM announce them."""
    with tempfile.TemporaryDirectory() as home:
        theme = os.path.join(home, "mine.theme")
        with open(theme, "w") as f:
            f.write("text = #102030\n")
        source = os.path.join(home, "source")
        with open(source, "w") as f:
            f.write("direct|24 bits,\n\tRGB, colors#0x1000000, pairs#0x10000,\n"
                    "\tsetaf=\\E[38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%dm,\n"
                    "\tsetab=\\E[48;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%dm,\n"
                    "\tuse=xterm-256color,\n")
        subprocess.run(["tic", "-x", "-o", home, source], check=True)
        for term, colorterm, wanted in (("direct", "truecolor", True), ("direct", "", False),
                                        ("xterm-256color", "truecolor", False)):
            env = {"TERM": term, "COLORTERM": colorterm, "TERMINFO": home}
            with Terminal(80, 24, env) as t:
                t.tmux("set", "-ga", "terminal-overrides", ",*:RGB")
                t.start("--theme", theme)
                assert ("38;2;16;32;48" in t.screen(escapes=True)) == wanted, (term, colorterm)


def themes():
    with Terminal(80, 24) as t:
        t.start("--theme", "mono")
        screen = t.screen(escapes=True)
        assert not re.search("\033\\[[0-9;]*3[0-7]m", screen), repr(screen[:300])
    done = subprocess.run([SYSTOP, "--theme", "nosuch"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no such theme" in done.stderr, done


def main():
    why = skip_reason()
    if why:
        print(f"1..0 # SKIP {why}")
        return
    tap = Tap()
    tap.case("drill down and back", drill)
    tap.case("command lines", commands)
    tap.case("command lines in the htop preset", commands_as_in_htop)
    tap.case("back in time", past)
    tap.case("the past of a process that ended", past_of_one_that_ended)
    tap.case("the detail of a process that ended", detail_of_one_that_ended)
    tap.case("policy and priority", policy)
    tap.case("page tables between refreshes", page_tables_between_refreshes)
    tap.case("the flamegraph of a process that ended", flame_of_one_that_ended)
    tap.case("cgroups in scope", cgroups_in_scope)
    tap.case("filter", filters)
    tap.case("search", search)
    tap.case("options and health", options)
    tap.case("config file", config)
    tap.case("a full disk", full_disk)
    tap.case("what was is saved", saves)
    tap.case("what was is saved up to the key", saves_before_a_refresh)
    tap.case("themes", themes)
    tap.case("24-bit colours", truecolor)
    tap.done()


main()
