# SPDX-License-Identifier: GPL-2.0-or-later
"""e in the flamegraph: what is shown is saved as a profile, beside where w saves, and named."""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from tmux import SYSTOP, Tap, Terminal, skip_reason  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "bpf"))
from harness import Load, load_path  # noqa: E402

SYSTOP = os.path.abspath(SYSTOP)
NAME = r"systop-\S+-\d{8}T\d{6}Z\.pprof\.gz"


def top(path, *args):
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run(["go", "tool", "pprof", "-top", "-cum", *args, path], capture_output=True, text=True, check=True,
                              timeout=120, env={**os.environ, "HOME": home, "PPROF_TMPDIR": home}).stdout


def saved_of(folder):
    names = [name for name in os.listdir(folder) if re.fullmatch(NAME, name)]
    assert len(names) == 1 and len(os.listdir(folder)) == 1, os.listdir(folder)
    return os.path.join(folder, names[0])


def shown(args, folder, pid):
    """Saves the flamegraph of everything in a scope of one process; returns what pprof reads from the file."""
    with Terminal(160, 40) as t:
        t.run(f"cd {folder}")
        t.start("-p", str(pid), "-F", "499", "-d", "0.3", *args)
        t.keys("1")
        t.wait(r"burn")
        t.keys("f")
        t.wait(r"alpha")
        t.wait("in ([4-9]|[1-9][0-9]) refreshes")  # the first one is too short to have all functions
        t.keys("e")
        t.wait(rf"saved \S*{NAME}")


def in_folder():
    """The profile is beside the file of -o, and contains what was shown."""
    with tempfile.TemporaryDirectory() as d, tempfile.TemporaryDirectory() as there, \
            Load(load_path("burn"), "cpu", "120") as load:
        shown(["-o", os.path.join(there, "trace.pb")], d, load.pid)
        assert not os.listdir(d), os.listdir(d)
        path = saved_of(there)
        text = top(path)
        assert "Type: cpu\n" in text and "alpha" in text and "beta" in text, text
        assert "Total samples = 0" not in text, text
        assert os.stat(path).st_mode & 0o777 == 0o600


def here():
    """Without -o the profile is in the folder in which systop was started."""
    with tempfile.TemporaryDirectory() as d, Load(load_path("burn"), "cpu", "120") as load:
        shown([], d, load.pid)
        assert "Type: wall\n" in top(saved_of(d), "-sample_index=wall")


def main():
    tap = Tap()
    if skip_reason():
        print(f"1..0 # SKIP {skip_reason()}")
        return
    tap.case("what is shown is saved in the folder that w saves to", in_folder)
    tap.case("or where systop was started", here)
    tap.done()


main()
