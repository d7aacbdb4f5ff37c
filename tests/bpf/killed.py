# SPDX-License-Identifier: GPL-2.0-or-later
"""Whichever process of systop is killed or stopped, at whatever work: when systop is gone nothing is left, no process and no BPF
program or link."""

import array
import contextlib
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import SYSTOP, begin, bpf_of, bpf_there, ended, name_of, wait_for  # noqa: E402

WAIT_S = 30
LEAVES_S = 5

# Runs the code at offset 4096 of a file.
RUN = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
at = libc.mmap(None, 8192, 5, 2, os.open(sys.argv[1], os.O_RDONLY), 0)
ctypes.CFUNCTYPE(None)(at + 4096)()
"""


def large(path):
    """An ELF file with code at 4096 that loops, and 1,000,000 symbols, which take a while to read."""
    nr = 1_000_000
    block = b"".join(b"functionPPPP%03d\0" % i for i in range(1000))
    strings = 1 + 16 * nr
    table = array.array("Q", bytes(24 * nr))
    table[0::3] = array.array("Q", range(1 | 0x12 << 32 | 1 << 48, (1 | 0x12 << 32 | 1 << 48) + 16 * nr, 16))  # name, kind, section
    table[1::3] = array.array("Q", range(4096, 4096 + nr))
    table[2::3] = array.array("Q", [2]) * nr
    names_at, symbols_at = 8192, 8192 + strings
    heads_at = symbols_at + 24 * nr
    with open(path, "wb") as f:
        f.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 4096, 64, heads_at, 0, 64, 56, 1, 64, 4, 3))
        f.write(struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 8192, 8192, 4096))
        f.seek(4096)
        f.write(b"\xeb\xfe")
        f.seek(names_at)
        f.write(b"\0" + b"".join(block.replace(b"PPPP", b"%04d" % i) for i in range(nr // 1000)))
        table.tofile(f)
        for name, kind, at, size, link, entry in ((0, 0, 0, 0, 0, 0), (0, 3, names_at, strings, 0, 0),
                                                  (0, 2, symbols_at, 24 * nr, 1, 24), (0, 3, names_at, 1, 0, 0)):
            f.write(struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, size, link, 0, 8, entry))


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(child) for child in f.read().split()]
    except OSError:
        return []


def cpu_s(pid):
    """CPU time of a process, None: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Run:
    """systop --json, into a file, and its helpers."""

    def __init__(self):
        self.out = tempfile.TemporaryFile("w+b")
        self.proc = subprocess.Popen([SYSTOP, "--json", "-d", "0.2"], stdout=self.out, stderr=self.out)
        self.known = {}
        for name in ("systop-open", "systop-symbols", "systop-peek"):
            self.number(name)
        self.go_on()
        self.bpf = bpf_of(self.proc.pid)
        assert len(self.bpf) > 10, f"only {self.bpf}"

    def family(self):
        """{pid: name} of all of its processes, including those seen before."""
        self.known[self.proc.pid] = "systop"
        starter = [pid for pid in children(self.proc.pid) if name_of(pid) == "systop-starter"]
        for pid in starter + (children(starter[0]) if starter else []):
            self.known[pid] = name_of(pid)
        return self.known

    def number(self, name):
        return wait_for(lambda: next((pid for pid, comm in self.family().items() if comm == name and not ended(pid)), 0), WAIT_S,
                        lambda: f"no {name} among {self.family()}")

    def go_on(self, bytes_more=1000):
        was = os.fstat(self.out.fileno()).st_size
        wait_for(lambda: os.fstat(self.out.fileno()).st_size > was + bytes_more, WAIT_S, f"no output after {was} bytes")

    def is_gone(self):
        """All of it is gone in time."""
        began = time.monotonic()
        wait_for(lambda: all(ended(pid) for pid in self.known), LEAVES_S,
                 lambda: "there are " + ", ".join(
                     f"{name} with {cpu_s(pid)} s of CPU time" for pid, name in self.known.items() if not ended(pid)))
        wait_for(lambda: not bpf_there() & self.bpf, LEAVES_S, lambda: f"there are {bpf_there() & self.bpf}")
        return f"gone after {time.monotonic() - began:.2f} s"

    def end(self, number):
        self.family()
        self.proc.send_signal(number)
        self.proc.wait()
        return self.is_gone()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for pid in [self.proc.pid, *(pid for pid in self.known if pid != self.proc.pid and not ended(pid))]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.proc.wait()
        self.out.close()


@contextlib.contextmanager
def busy_parser(systop):
    """systop-symbols has begun to read a large file."""
    with tempfile.TemporaryDirectory() as folder:
        large(f"{folder}/large")
        symbols = systop.number("systop-symbols")
        before = cpu_s(symbols)
        with subprocess.Popen([sys.executable, "-c", RUN, f"{folder}/large"]) as program:
            try:
                wait_for(lambda: ended(symbols) or cpu_s(symbols) > before, WAIT_S,
                         lambda: f"systop-symbols used {cpu_s(symbols)} s of CPU time, as before")
                yield
            finally:
                program.kill()


def killed():
    with Run() as systop:
        return systop.end(signal.SIGKILL)


def killed_while_busy():
    with Run() as systop, busy_parser(systop):
        return systop.end(signal.SIGKILL)


def starter_killed_while_busy():
    """Running helpers continue until systop is gone."""
    with Run() as systop, busy_parser(systop):
        systop.family()
        os.kill(systop.number("systop-starter"), signal.SIGKILL)
        systop.go_on()
        gone = [name for pid, name in systop.known.items() if ended(pid) and name in ("systop-open", "systop-peek")]
        assert not gone, f"{gone} ended with the starter"
        return systop.end(signal.SIGKILL)


def helpers_stopped(number):
    with Run() as systop:
        for name in ("systop-open", "systop-symbols", "systop-peek"):
            os.kill(systop.number(name), signal.SIGSTOP)
        return systop.end(number)


def starter_stopped(number):
    with Run() as systop:
        os.kill(systop.number("systop-starter"), signal.SIGSTOP)
        systop.go_on()
        return systop.end(number)


def main():
    tap = begin()
    tap.case("SIGKILL", killed)
    tap.case("SIGKILL while a file of a million symbols is read", killed_while_busy)
    tap.case("the starter is killed while a file of a million symbols is read, then systop", starter_killed_while_busy)
    for number in (signal.SIGTERM, signal.SIGKILL):
        tap.case(f"{number.name} while all helpers are stopped", helpers_stopped, number)
        tap.case(f"{number.name} while the starter is stopped", starter_stopped, number)
    tap.done()


main()
