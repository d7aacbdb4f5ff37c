# SPDX-License-Identifier: GPL-2.0-or-later
"""Every key in every view, and the special keys of the common terminals. tests/golden/storm has other sizes."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from tmux import SYSTOP, Tap, Terminal, ended, skip_reason  # noqa: E402

HOST = os.uname().nodename
SPECIAL = {"Bksp": "BSpace", "Esc": "Escape", "PgUp": "PPage", "PgDn": "NPage", "S-Tab": "BTab",
           ";": "\\;"}
LEAVING = {"close", "quit", "suspend", "write"}  # have tests of their own


def actions():
    """Action -> keys as tmux names them, from the config that the program prints."""
    text = subprocess.run([SYSTOP, "--print-config"], capture_output=True, text=True,
                          check=True).stdout
    keys = text.partition("[keys]\n")[2]
    found = {}
    for name, bound in re.findall(r"^# ([a-z-]+) = (.*)$", keys, re.MULTILINE):
        found[name] = [SPECIAL.get(k, re.sub(r"^\^(?=.)", "C-", k) if len(k) > 1 else k)
                       for k in bound.split()]
    assert len(found) > 50, found
    return found


def every_key(half, width, height):
    """Presses every key in every second view."""
    views = {"threads": [], "processes": ["H"], "tree": ["t"], "cgroups": ["2"], "system": ["7"],
             "irq": ["6"], "flame of all": ["3"], "irq source": ["6", "Enter"], "latency": ["4"], "subsecond": ["4", "s"], "waits": ["8"],
             "detail": ["1", "Enter"], "help": ["?"], "health": ["!"], "options": ["o"],
             "columns": ["o", "Enter"], "sort": ["."]}
    with tempfile.TemporaryDirectory() as folder, Terminal(width, height) as t:
        t.run(f"cd {folder}")  # a key saves a profile
        pid = t.start("-d", "0.5")
        for view, way in list(views.items())[half::2]:
            for name, keys in actions().items():
                if name in LEAVING:
                    continue
                for key in keys:
                    # Prompts, menus and overlays are closed again; hidden parts are shown again.
                    t.tmux("send-keys", "-t", "t", "C-u", "Escape", "Escape", "Escape", "1", "=", *way, ";",
                           "send-keys", "-t", "t", key)
                    time.sleep(0.02)
                    screen = t.screen()
                    lines = screen.split("\n")
                    assert not ended(pid), f"{key} in {view} ended it"
                    assert lines[0].startswith(f"systop {HOST} "), (view, key, screen)
                    assert max(map(len, lines)) <= width, (view, key, screen)
        t.keys("C-u", "Escape", "Escape", "Escape", "1")
        t.wait(r"\[1:Threads\]")
        t.keys("q")
        t.wait(r"^\$ ?$")


def capability(term, name):
    done = subprocess.run(["tput", "-T", term, name], capture_output=True, check=False)
    return done.stdout.decode("latin-1") if not done.returncode else None


def press(t, sequence):
    """Sends a key as the terminal does, not as tmux does."""
    t.tmux("send-keys", "-t", "t", "-H", *(f"{ord(c):02x}" for c in sequence))


def special_keys(term, sent_by):
    """Function and arrow keys as one terminal sends them, under another one's name."""
    with Terminal(100, 30, {"TERM": term}) as t:
        t.start()
        keys = {k: capability(sent_by, c) for k, c in
                (("F1", "kf1"), ("F2", "kf2"), ("F4", "kf4"), ("F6", "kf6"), ("F10", "kf10"),
                 ("Down", "kcud1"), ("Up", "kcuu1"), ("PgDn", "knp"), ("End", "kend"),
                 ("Home", "khome"))}
        t.keys("N")
        t.wait("TID\\^")
        first = t.wait(r"^> +(\d+) ").group(1)
        press(t, keys["Down"])
        t.wait(rf"^> +(?!{first} )\d+ ")
        press(t, keys["Up"])
        t.wait(rf"^> +{first} ")
        for key in ("PgDn", "End"):
            if keys[key]:
                press(t, keys[key])
                t.wait(rf"^> +(?!{first} )\d+ ")
                t.keys("g")
                t.wait(rf"^> +{first} ")
        if keys["Home"]:
            t.keys("G")
            t.wait(rf"^> +(?!{first} )\d+ ")
            press(t, keys["Home"])
            t.wait(rf"^> +{first} ")
        for key, page in (("F1", "^Keys"), ("F2", "^Options"), ("F4", "^filter:"), ("F6", "^Sort by")):
            if keys[key]:
                press(t, keys[key])
                t.wait(page)
                t.keys("Escape")
                t.wait("TID\\^")
        if keys["F10"]:
            press(t, keys["F10"])
        else:
            t.keys("Q")
        t.wait(r"^\$ ?$")


def keypad(term):
    """The keypad in application mode, as PuTTY and rxvt send it: 1 is End, and the last character of its sequence does not quit."""
    with Terminal(100, 30, {"TERM": term}) as t:
        t.start()
        t.keys("N")
        t.wait("TID\\^")
        first = t.wait(r"^> +(\d+) ").group(1)
        for key, back in (("r", "x"), ("s", "y"), ("q", "w")):
            press(t, f"\033O{key}")
            t.wait(rf"^> +(?!{first} )\d+ ")
            press(t, f"\033O{back}")
            t.wait(rf"^> +{first} ")
        press(t, "\033Oo")
        t.wait("^/")


def presets():
    """The keys of the other presets work as their users expect."""
    for preset, keys in (("htop", ("F5", "^ *.? +PID ", "F6", "^Sort by", "F3", "^/")),
                         ("below", ("c", r"\[2:Cgroups\]", "s", r"\[7:System\]", "p", r"\[1:Threads\]"))):
        config = f"/tmp/systoprc-{os.getpid()}"
        with open(config, "w") as f:
            f.write(f"[keys]\npreset = {preset}\n")
        os.chmod(config, 0o600)
        try:
            with Terminal(80, 24, {"SYSTOPRC": config}) as t:
                t.start()
                for key, expected in zip(keys[::2], keys[1::2]):
                    t.keys(key)
                    t.wait(expected)
                    if expected.startswith("^"):
                        t.keys("Escape")
        finally:
            os.unlink(config)


def conflict():
    """An invalid binding is reported with file and line, and nothing of the file is used."""
    config = f"/tmp/systoprc-{os.getpid()}"
    for text, message in (("[keys]\npause = p\nhelp = p\n", r"line 3: .*p .*(pause|line 2)"),
                          ("[keys]\nnosuch = p\n", r"line 2: no such action"),
                          ("[keys]\npause = Foo\n", r"line 2: .*key")):
        with open(config, "w") as f:
            f.write(text)
        os.chmod(config, 0o600)
        try:
            with Terminal(160, 24, {"SYSTOPRC": config}) as t:
                t.start()
                t.wait(config + ", " + message)
                t.keys("Space")
                t.wait("PAUSED")
        finally:
            os.unlink(config)


def click_x10(x, y):
    return "\033[M" + "".join(chr(32 + n) for n in (0, x, y)) + "\033[M" + "".join(
        chr(32 + n) for n in (3, x, y))


def click_sgr(x, y):
    return f"\033[<0;{x};{y}M\033[<0;{x};{y}m"


def mouse(term, click):
    """Off at first; when on, a click selects and a title sorts; a crash switches it off again."""
    with Terminal(80, 24, {"TERM": term}) as t:
        pid = t.start()
        flag = lambda: t.tmux("display", "-p", "-t", "t", "#{mouse_any_flag}").strip()  # noqa: E731
        assert flag() == "0", flag()
        t.keys("m")
        t.wait("mouse on")
        assert flag() == "1", flag()
        t.keys("N")
        t.wait("TID\\^")
        press(t, click(10, 8))  # the third row
        t.wait(r"\A(.*\n){7}>")
        press(t, click(t.lines()[4].index("RUN%") + 2, 5))
        t.wait("sort RUN%")
        os.kill(pid, 11)
        t.wait(r"^\$ ?$")
        time.sleep(0.1)
        assert flag() == "0", "mouse reports go on after a crash"


def act_on_what_was_drawn(key, shows):
    """A key refers to the row that was drawn when it was pressed, even if a refresh is due that puts another one
    there."""
    name = f"drawn{os.getpid()}"
    program = os.path.join("/tmp", name)
    shutil.copy("/bin/sleep", program)
    others = []
    with Terminal(100, 30) as t:
        try:
            others.append(subprocess.Popen([program, "60"]))
            t.run("set +m")  # the shell does not notice the stop
            t.run(f"{SYSTOP} --filter comm:{name}")
            t.keys("N")
            t.wait(r"TID\^")
            t.keys("I")  # the newest first
            t.wait(rf"^> +{others[0].pid} ")
            pid = t.systop_pid()
            os.kill(pid, signal.SIGSTOP)
            others.append(subprocess.Popen([program, "60"]))
            time.sleep(1.5)  # the next refresh is due
            t.keys(key)
            time.sleep(0.3)
            os.kill(pid, signal.SIGCONT)
            t.wait(shows.format(others[0].pid))
        finally:
            for other in others:
                other.kill()
                other.wait()
            os.unlink(program)


def main():
    why = skip_reason()
    if why:
        print(f"1..0 # SKIP {why}")
        return
    tap = Tap()
    tap.together([
        ("every key in the first view and every second one from there", every_key, 0, 80, 24),
        ("every key in the other views", every_key, 1, 80, 24),
        *((f"special keys of {sent_by} under TERM={term}", special_keys, term, sent_by) for term, sent_by in (
            ("xterm-256color", "xterm-256color"), ("screen", "screen"), ("tmux-256color", "tmux-256color"), ("linux", "linux"),
            ("vt220", "vt220"), ("xterm", "linux"), ("linux", "xterm"), ("vt100", "xterm"))),
        ("keypad under TERM=screen", keypad, "screen"),
        ("mouse of xterm", mouse, "xterm-256color", click_sgr),
        ("mouse of screen", mouse, "screen", click_x10),
    ], 3)
    for key, shows in (("Enter", r"^\[1:.*> drawn\d+ {} detail"), ("v", r"^\[1:.*> drawn\d+ {} detail"),
                       ("f", r"^\[1:.*> drawn\d+ {} flame")):
        tap.case(f"{key} acts on the row that was drawn", act_on_what_was_drawn, key, shows)
    tap.case("presets", presets)
    tap.case("bad bindings name file and line", conflict)
    tap.done()


main()
