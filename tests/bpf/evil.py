#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compromised helpers (tests/bpf/evil.c): forbidden deeds end them, false answers cost names, the next refresh
comes, and their CPU time counts as systop's."""

import ctypes
import json
import os
import resource
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from harness import MS, SEC, SYSTOP, Load, begin, descendants, ended, load_path

EVIL = os.environ.get("SYSTOP_EVIL_PROGRAM", os.path.join(os.path.dirname(load_path("")), "..", "bpf", "systop-evil"))
ROLES = ("open", "symbols", "peek", "write", "who", "commands")
FORBIDDEN = ("fork", "clone", "exec", "socket", "ptrace", "bpf", "setuid", "kill", "own a descriptor",
             "signals at input", "executable memory", "mprotect to execute", "mount", "make a file", "read a file")
SAID = ("too short", "too long", "a socket", "a device", "many descriptors", "another's answer", "ones", "endless", "spin",
        "silent")
DEEDS = FORBIDDEN + SAID
DEEDS_MAX = 32
LEFT_OUT = {("write", "make a file"), *((role, "read a file") for role in ("open", "write", "who", "commands"))}  # their task
PATIENCE_S = 150
CALM_S = 6  # longer than any deed lasts
QUIET_NS = 150 * MS  # of CPU, in the last two lines: half of what may be in no line
QUIET_S = 60  # limit for quiet lines to come, as a busy machine is slow
PR_SET_CHILD_SUBREAPER = 36


class Counts:
    def __init__(self, folder):
        self.path = os.path.join(folder, "counts")
        with open(self.path, "wb") as f:
            f.write(bytes(4 * (len(ROLES) + 2 * len(ROLES) * DEEDS_MAX + 1)))

    def calm(self):
        """Stops the deeds from now on."""
        with open(self.path, "r+b") as f:
            f.seek(-4, os.SEEK_END)
            f.write(struct.pack("I", 1))

    def read(self):
        """{(role, deed): times tried}, {(role, deed): times survived}"""
        with open(self.path, "rb") as f:
            words = struct.unpack(f"{len(ROLES) * (1 + 2 * DEEDS_MAX) + 1}I", f.read())
        tables = []
        for table in (0, 1):
            first = len(ROLES) * (1 + table * DEEDS_MAX)
            tables.append({(role, deed): words[first + r * DEEDS_MAX + d]
                           for r, role in enumerate(ROLES) for d, deed in enumerate(DEEDS)})
        return tables


class Programs:
    """New programs that use a CPU, one after the other: files to request from the helpers."""

    def __init__(self, folder):
        self.folder = folder
        self.nr = 0
        self.proc = None

    def go_on(self):
        if self.proc and self.proc.poll() is None:
            return
        self.nr += 1
        path = os.path.join(self.folder, f"burn{self.nr}")
        shutil.copy(load_path("burn"), path)
        self.proc = subprocess.Popen([path, "cpu", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     env={**os.environ, "LOAD_PERCENT": "25"})

    def end(self):
        if self.proc:
            self.proc.kill()
            self.proc.wait()


def missing(tried):
    return [key for key in ((role, deed) for role in ROLES for deed in DEEDS) if key not in LEFT_OUT and not tried[key]]


def is_quiet(lines):
    """Whether systop and its helpers use little CPU time per refresh: then they use little after the last line, too."""
    return sum(line["self"]["cpu_ns"] for line in lines[-2:]) < QUIET_NS


def run(folder):
    """One run in which every helper does every deed. Returns the counts, the lines, and systop's true CPU time."""
    counts = Counts(folder)
    os.chmod(counts.path, 0o666)
    programs = Programs(folder)
    gaps, lines, text = [], [], b""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    proc = subprocess.Popen([EVIL, "--json", "-d", "0.5", "--window", "1"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, cwd=folder, env={**os.environ, "SYSTOP_EVIL": counts.path})
    end = time.monotonic() + PATIENCE_S
    last = saved = time.monotonic()
    calm = None
    while not calm or time.monotonic() < calm or (time.monotonic() < calm + QUIET_S and not is_quiet(lines)):
        if not calm and (time.monotonic() > end or not missing(counts.read()[0])):
            # CPU time after the last line is in no line: little is used from here on, and no trace is saved.
            counts.calm()
            calm = time.monotonic() + CALM_S
            programs.end()
        if not calm:
            programs.go_on()
        if select.select([proc.stdout], [], [], 0.2)[0]:
            text += os.read(proc.stdout.fileno(), 1 << 20)
            *whole, text = text.split(b"\n")
            lines += [json.loads(line) for line in whole]
            if whole:
                gaps.append(time.monotonic() - last)
                last = time.monotonic()
        if not calm and time.monotonic() - saved > 1:
            proc.send_signal(signal.SIGUSR1)
            saved = time.monotonic()
    assert proc.poll() is None, f"systop ended: {proc.returncode}"
    return counts, proc, gaps, lines, text


def finish(proc, text, lines):
    """Ends it and all of its processes. Returns how long that took, and their CPU time in ns."""
    pids = descendants(proc.pid)
    began = time.monotonic()
    # On quit systop waits for a save in progress, as on a slow machine, unless it gets a second signal.
    # proc.terminate() would wait for it.
    os.kill(proc.pid, signal.SIGTERM)
    while time.monotonic() < began + 60 and not ended(proc.pid):
        if select.select([proc.stdout], [], [], 0.5)[0]:
            text += os.read(proc.stdout.fileno(), 1 << 20)
        if not ended(proc.pid):
            os.kill(proc.pid, signal.SIGTERM)
    took = time.monotonic() - began
    text += proc.stdout.read()
    lines += [json.loads(line) for line in text.split(b"\n") if line]
    _, status, usage = os.wait4(proc.pid, 0)
    proc.returncode = os.waitstatus_to_exitcode(status)
    cost = usage.ru_utime + usage.ru_stime
    # The starter, and helpers that it did not wait for, are our children now.
    end = time.monotonic() + 20
    for pid in pids[1:]:
        while time.monotonic() < end:
            try:
                found, _, usage = os.wait4(pid, os.WNOHANG)
            except ChildProcessError:
                break
            if found:
                cost += usage.ru_utime + usage.ru_stime
                break
            time.sleep(0.05)
    return took, cost * SEC


def start_and_end_ns():
    """What systop and its helpers use before the first refresh and after the last one."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([SYSTOP, "-b", "-n", "1", "-d", "0.1"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * SEC


def main():
    tap = begin()
    with tempfile.TemporaryDirectory() as folder, Load(load_path("lock_d"), "pipe", str(PATIENCE_S)):
        os.chmod(folder, 0o777)
        counts, proc, gaps, lines, text = run(folder)
        took, cost = finish(proc, text, lines)
        tried, outlived = counts.read()
    for role in ROLES:
        left = [deed for r, deed in missing(tried) if r == role]
        lived = [deed for deed in FORBIDDEN if outlived[role, deed] and (role, deed) not in LEFT_OUT]
        tap.ok(not left and not lived, f"a helper taken over: {role}", f"not tried: {left}, outlived: {lived}")
    tap.ok(max(gaps) < 5, "the next refresh comes", f"longest without one: {max(gaps):.1f} s of {len(lines)} lines")
    tap.ok(took < 5, "systop ends when it is told to", f"{took:.1f} s")
    tap.ok(proc.returncode == -signal.SIGTERM, "by the signal", proc.returncode)
    told, outside = sum(line["self"]["cpu_ns"] for line in lines), start_and_end_ns()
    tap.ok(abs(told - cost) < 0.05 * cost + 2 * outside, "what they cost is reported",
           f"self.cpu_ns {told / MS:.0f} ms, the kernel's {cost / MS:.0f} ms; to start and end takes {outside / MS:.0f} ms")
    print(f"# longest without a refresh {max(gaps):.1f} s, end {took:.2f} s, cost {told / MS:.0f} of {cost / MS:.0f} ms")
    tap.done()


main()
