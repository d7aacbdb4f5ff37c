# SPDX-License-Identifier: GPL-2.0-or-later
"""Completions work in each shell; the man pages are well-formed and complete."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tui"))
from tmux import SYSTOP, Tap, Terminal  # noqa: E402

MAN = os.environ.get("SYSTOP_MAN", "build/man")


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def completions(shell):
    done = run(SYSTOP, "--completions", shell)
    assert not done.returncode and done.stdout, done
    return done.stdout


def with_systop():
    return {**os.environ, "PATH": os.path.dirname(SYSTOP) + ":" + os.environ["PATH"]}


def put_program(folder, *lines):
    """A systop that prints these lines."""
    path = os.path.join(folder, "systop")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\ncat << 'END'\n" + "\n".join(lines) + "\nEND\n")
    os.chmod(path, 0o755)


def bash():
    script = completions("bash") + """
complete_line() {
	COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
	_systop
	echo "${COMPREPLY[@]}"
}
complete_line systop --comp
complete_line systop --color = a
complete_line systop --clock = c
complete_line systop --theme ""
complete_line systop -s runq_p
complete_line systop -u roo
complete_line systop -d ""
complete_line systop -- pytho
complete_line systop -s cput
compopt() { echo "$2"; }
complete_line systop -w /var/tm
"""
    done = run("bash", "-c", script, env=with_systop())
    lines = done.stdout.split("\n")
    assert not done.stderr, done.stderr
    assert lines[0] == "--completions", lines
    assert lines[1] == "auto always", lines
    assert lines.pop(2) == "cycles cpu", lines
    assert {"default", "light", "mono", "colour-blind", "16-colour"} == set(lines[2].split()), lines
    assert lines[3] == "runq_p50_ns runq_p99_ns", lines
    assert "root" in lines[4].split(), lines
    assert lines[5] == "", lines
    assert "python3" in lines[6].split(), lines
    assert lines[7] == "cputime", lines
    assert lines[8] == "default", lines # readline's own

    # Names of cgroups are offered as they are, and nothing in them runs.
    with tempfile.TemporaryDirectory() as folder:
        names = ["/a\\x2db.service", f"/$(touch {folder}/ran)", "/a b"]
        put_program(folder, "HIERARCHY THREADS PATH", *(f"v2 1 {name}" for name in names))
        ask = script.partition("complete_line systop --comp")[0] + """
complete_line systop -c / | xargs printf '%s\n'
complete_line systop -c '/a\\\\x2'
"""
        done = run("bash", "-c", ask, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
        assert done.stdout.splitlines() == sorted(names) + ["/a\\\\x2db.service"] and not done.stderr, done
        assert os.listdir(folder) == ["systop"], os.listdir(folder)


def zsh():
    """Loaded as a file of $fpath, like the installed one, and used in a terminal."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "_systop"), "w") as f:
            f.write(completions("zsh"))
        with Terminal(100, 30, {"PATH": with_systop()["PATH"]}) as t:
            t.run("PS1='$ ' zsh -f")
            t.wait(r"zsh -f\n\$ ?$")
            t.run(f"fpath=({folder} $fpath); autoload -U compinit && compinit -u -D; clear")
            t.wait(r"\A\$ ?$")
            t.type("systop --color=al\t")
            t.wait("--color=always")
            t.keys("C-u")
            t.type("systop --the\t\t")
            t.wait("colour-blind.*mono")
            t.keys("C-u")
            t.type(f"systop -w {folder}/_sys\t")
            t.wait(f"{folder}/_systop ?$")


def fish():
    script = completions("fish") + """
complete -C "systop --comp"
complete -C "systop --color a"
complete -C "systop -s runq_p"
complete -C "systop -w /etc/passw"
"""
    with tempfile.TemporaryDirectory() as home:
        done = run("fish", "--no-config", "-c", script, env={**with_systop(), "HOME": home})
    words = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert words[:5] == ["--completions", "always", "auto", "runq_p50_ns", "runq_p99_ns"] and "/etc/passwd" in words[5:], done


def refused():
    done = run(SYSTOP, "--completions", "csh")
    assert done.returncode == 2 and "bash, zsh or fish" in done.stderr, done


def page(name):
    done = run("mandoc", "-T", "utf8", "-W", "warning", os.path.join(MAN, name))
    assert not done.stderr, done.stderr
    return re.sub(".\b", "", done.stdout)


def manual():
    """The manual has every option of --help and every key."""
    text = page("systop.8")
    options = set(re.findall(r"--[a-z-]+", run(SYSTOP, "--help").stdout))
    missing = [o for o in options if o not in text]
    assert not missing, missing
    config = page("systoprc.5")
    names = re.findall(r"^#? ?([a-z0-9-]+) =", run(SYSTOP, "--print-config").stdout, re.MULTILINE)
    assert len(names) > 60, names
    missing = [n for n in names if n not in config]
    assert not missing, missing


def main():
    tap = Tap()
    for name, case in (("bash", bash), ("zsh", zsh), ("fish", fish)):
        if shutil.which(name):
            tap.case(f"completions of {name}", case)
        else:
            tap.skip(f"completions of {name}", f"{name} is not installed")
    tap.case("an unknown shell is refused", refused)
    if shutil.which("mandoc"):
        tap.case("the man pages are well-formed and name everything", manual)
    else:
        tap.skip("the man pages are well-formed and name everything", "mandoc is not installed")
    tap.done()


main()
