# SPDX-License-Identifier: GPL-2.0-or-later
"""200 random resizes with random keys, under the address and undefined-behaviour sanitizers."""

import os
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import tmux  # noqa: E402
from tmux import Tap, Terminal, ended, skip_reason  # noqa: E402

RESIZES = 200
KEYS = ([chr(c) for c in range(32, 127) if chr(c) not in "qQw"] +  # except those that quit systop, or save
        list("12345678") * 2 + ["Enter"] * 10 +
        ["Escape", "Enter", "Tab", "BTab", "Up", "Down", "Left", "Right", "PPage", "NPage", "Home",
         "End", "BSpace", "F1", "F2", "F4", "F5", "F6", "C-l", "C-d", "C-u", "C-f", "C-b", "DC",
         "\u00e9", "\u65e5"])


def reports(folder):
    text = ""
    for name in os.listdir(folder):
        if name.startswith("report"):
            with open(os.path.join(folder, name)) as f:
                text += f.read()
    return text


def storm(seed):
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        log = f"log_path={folder}/report"
        env = {"XDG_CONFIG_HOME": folder, "ASAN_OPTIONS": log,
               "UBSAN_OPTIONS": log + ":print_stacktrace=1"}
        with Terminal(80, 24, env) as t:
            t.run(f"stty -g >{folder}/was")
            pid = t.start("-d", "0.1")
            for nr in range(RESIZES):
                keys = random.choices(KEYS, k=random.randrange(8))
                width, height = random.randint(1, 500), random.randint(1, 200)
                if nr % 10 == 0:
                    width, height = random.choice(((1, 1), (40, 10), (39, 10), (500, 200), (500, 1)))
                t.tmux("send-keys", "-t", "t", *[k.replace(";", "\\;") for k in keys], ";",
                       "resize-window", "-t", "t", "-x", str(width), "-y", str(height))
                assert not ended(pid), f"ended at resize {nr} of seed {seed}\n{reports(folder)}"
            t.resize(100, 30)
            time.sleep(1)  # tmux reports the last of many sizes after 0.25 s; in too small a screen keys do nothing
            t.wait("scope all")
            t.keys("C-u", "Escape", "Escape", "Escape", "Escape", "1", "=")
            t.wait(r"\[1:Threads\]", 30)
            t.keys("Q")
            t.wait(r"^\$ ?$", 30)
            t.run("echo status=$?")
            t.wait("status=0")
            t.run(f"stty -g | cmp {folder}/was && echo same")
            t.wait("^same")
        assert not reports(folder), reports(folder)


def main():
    why = skip_reason()
    sanitized = os.environ.get("SYSTOP_SANITIZED")
    if not why and not sanitized:
        why = "the compiler has no sanitizers here: install libasan and libubsan"
    if why:
        print(f"1..0 # SKIP {why}")
        return
    tmux.SYSTOP = sanitized
    tap = Tap()
    seed = int(os.environ.get("SYSTOP_SEED", "0")) or random.randrange(1, 1 << 30)
    tap.case(f"storm with SYSTOP_SEED={seed}", storm, seed)
    tap.done()


main()
