# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that exporters cannot write to are refused before anything is measured, for each exporter."""

import os
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tui"))
from tmux import SYSTOP, Tap  # noqa: E402

SYSTOP = os.path.abspath(SYSTOP)

OPTIONS = ["--openmetrics", "--pprof"]


def run(*args, **more):
    return subprocess.run([SYSTOP, *args], capture_output=True, text=True, check=False, timeout=30,
                          stdin=subprocess.DEVNULL, **more)


def refused(status, text, *args, cwd):
    done = run(*args, cwd=cwd)
    assert done.returncode == status and text in done.stderr and not done.stdout, done
    lines = done.stderr.splitlines()
    assert max(len(line) for line in lines) <= 80, lines
    assert any(line.startswith("  why: ") for line in lines) and any(line.startswith("  fix: ") for line in lines), lines


def not_files(option):
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(f"{d}/directory")
        os.symlink("directory", f"{d}/link")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(f"{d}/socket")
            refused(2, "it is a directory", option, "directory", "-n", "1", cwd=d)
            refused(2, "it is a directory", option, "link", "-n", "1", cwd=d)
            refused(2, "not a file, FIFO or character device", option, "socket", "-n", "1", cwd=d)
        refused(1, "No such file or directory", option, "nowhere/file", "-n", "1", cwd=d)
        assert sorted(os.listdir(d)) == ["directory", "link", "socket"], os.listdir(d)


def no_operand(option):
    done = run(option)
    assert done.returncode == 2 and "requires an argument" in done.stderr, done


def closed_output(option):
    done = run(option, "-", "-n", "1", preexec_fn=lambda: os.close(1))
    assert done.returncode == 1 and "standard output is closed" in done.stderr, done


def described(option):
    """Help, completions and man page follow from the row."""
    assert option in run("--help").stdout
    for shell in "bash", "zsh", "fish":
        assert option[2:] in run("--completions", shell).stdout, shell


def main():
    tap = Tap()
    for option in OPTIONS:
        tap.case(f"{option}: what is no file is refused", not_files, option)
        tap.case(f"{option} wants a file", no_operand, option)
        tap.case(f"{option} - needs a standard output", closed_output, option)
        tap.case(f"{option} is in help and completions", described, option)
    tap.done()


main()
