# SPDX-License-Identifier: GPL-2.0-or-later
"""A hostile file costs only its own names; a large honest one has names."""

import array
import contextlib
import json
import lzma
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

sys.path.insert(0, os.path.dirname(__file__))
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "tui"))
from harness import GUEST, SYSTOP, Cgroup, begin, helper_of  # noqa: E402
from tmux import Terminal  # noqa: E402

NAMES_S = 10 if GUEST else 3    # until other programs have names
GIANTS_S = 30 if GUEST else 10  # until the giants have names
WAIT_S = 30

# A program without libraries, whose stack cannot be walked without its unwind table.
SPIN = """
static __attribute__((noinline)) void alpha(void)
{
	volatile char room[200];

	for (int i = 0; i < 100000; i++)
		room[i % sizeof(room)] = i;
}

void _start(void)
{
	__asm__ volatile(".cfi_undefined rip");
	for (;;)
		alpha();
}
"""

# Runs the code that is at 4096 in a file; or, as a JIT does, in memory, with PATH as its list of functions.
RUN = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
if sys.argv[1] == "jit":
    at = libc.mmap(None, 8192, 7, 0x22, -1, 0)
    ctypes.memmove(at + 4096, b"\\xeb\\xfe", 2)
    os.link(sys.argv[2], f"/tmp/perf-{os.getpid()}.map")
else:
    at = libc.mmap(None, 8192, 5, 2, os.open(sys.argv[1], os.O_RDONLY), 0)
print(flush=True)
ctypes.CFUNCTYPE(None)(at + 4096)()
"""

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB = 1, 2, 3
PAGE = 4096


class Elf:
    """An ELF file with code at 4096 that loops, or with the code of another file, and any sections."""

    def __init__(self, base=None):
        self.sections = [(b"", 0, 0, 0, 0, 0, 0, b"")]  # name, type, address, size, link, entsize, info, bytes
        if base:
            with open(base, "rb") as f:
                self.base = f.read()
        else:
            head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, PAGE, 64, 0, 0, 64, 56, 1, 64, 0, 0)
            load = struct.pack("<IIQQQQQQ", 1, 5, PAGE, PAGE, PAGE, 0x10000, 0x10000, PAGE)
            self.base = (head + load).ljust(PAGE, b"\0") + b"\xeb\xfe".ljust(0x10000, b"\x90")
        self.phnum = struct.unpack_from("<H", self.base, 56)[0]

    def add(self, name, kind, content=b"", size=None, link=0, entsize=0, address=0, info=0):
        """If a section is larger than its bytes, the rest is a hole. Returns its number."""
        size = len(content) if size is None else size
        self.sections.append((name, kind, address, size, link, entsize, info, content))
        return len(self.sections) - 1

    def symbols(self, functions, names, size=None):
        """functions: bytes of Elf64_Sym."""
        strings = self.add(b".strtab", SHT_STRTAB, names)
        self.add(b".symtab", SHT_SYMTAB, functions, size, strings, 24)

    def write(self, path):
        """Returns its CRC-32."""
        self.add(b".shstrtab", SHT_STRTAB, b"\0".join(s[0] for s in self.sections) + b"\0.shstrtab\0")
        names = self.sections[-1][7]
        heads = b""
        with open(path, "wb") as f:
            f.write(self.base)
            at = len(self.base)
            parts = []
            for name, kind, address, size, link, entsize, info, content in self.sections:
                f.seek(at)
                f.write(content)
                offset = at if kind else 0
                heads += struct.pack("<IIQQQQIIQQ", names.index(name + b"\0"), kind, 0, address, offset, size, link,
                                     info, 8, entsize)
                parts.append((content, size - len(content) + -size % 8))
                at += size + -size % 8
            f.seek(at)
            f.write(heads)
            base = bytearray(self.base)
            struct.pack_into("<Q", base, 40, at)
            struct.pack_into("<H", base, 56, self.phnum)
            struct.pack_into("<HH", base, 60, len(self.sections), len(self.sections) - 1)
            f.seek(0)
            f.write(base)
        os.chmod(path, 0o755)
        crc = zlib.crc32(base)
        for content, hole in parts:
            crc = crc_of_zeros(zlib.crc32(content, crc), hole)
        return zlib.crc32(heads, crc)


def crc_of_zeros(crc, nr):
    """Continues a CRC-32 over that many zeroes: each is the same linear step, which is squared."""
    def times(matrix, vector):
        out = 0
        for bit in range(32):
            if vector >> bit & 1:
                out ^= matrix[bit]
        return out

    crc ^= 0xFFFFFFFF
    step = [1 << bit for bit in range(32)]
    for _ in range(8):
        step = [v >> 1 ^ (0xEDB88320 if v & 1 else 0) for v in step]
    while nr:
        if nr & 1:
            crc = times(step, crc)
        step = [times(step, v) for v in step]
        nr >>= 1
    return crc ^ 0xFFFFFFFF


def symbol(name, address, size=16):
    return struct.pack("<IBBHQQ", name, 0x12, 0, 1, address, size)


# --- Hostile files: each function makes one at a path, and returns what runs it and the reason that is reported.

def headers(path):
    """As many segments as their number can express."""
    elf = Elf()
    elf.sections[0] = (b"", 0, 0, 0, 0, 0, 0xFFFFFFFF, b"")
    elf.phnum = 0xFFFF
    elf.write(path)


def names_without_end(path):
    elf = Elf()
    functions = b"".join(symbol(i * 16 + 1, PAGE, 0) for i in range(1000)) * 1000
    elf.symbols(functions, b"\0" + b"x" * (16 << 20))
    elf.write(path)


def sparse(path):
    """Unwind information and symbols that are a hole."""
    elf = Elf()
    elf.add(b".eh_frame", SHT_PROGBITS, b"", 1900 << 20)
    elf.symbols(symbol(1, PAGE), b"\0one\0", 1900 << 20)
    elf.write(path)


def bomb(path):
    elf = Elf()
    elf.add(b".gnu_debugdata", SHT_PROGBITS, lzma.compress(bytes(192 << 20), preset=0))
    elf.write(path)


def endless_name(path):
    """A name of 300 bytes of a C++ function, which has 2^32 words when demangled."""
    def back(nr):
        digits, out = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", ""
        if not nr:
            return "S_"
        nr -= 1
        while True:
            out = digits[nr % 36] + out
            nr //= 36
            if not nr:
                return f"S{out}_"

    name = "_Z1fPFvvE" + "".join(f"PFv{back(2 * i + 1) * 2}E" for i in range(32))
    elf = Elf()
    elf.symbols(symbol(0, 0) + symbol(1, PAGE, 0), b"\0" + name.encode() + b"\0")
    elf.write(path)


def thief(path):
    """Unwind information with a rule for each of 15,900 bytes."""
    cie = struct.pack("<IB", 0, 1) + b"zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01"
    cie += b"\0" * (-len(cie) % 4)
    rules = b"".join(b"\x41\x0e" + bytes((n & 0x7F | 0x80, n >> 7 & 0x7F | 0x80, n >> 14)) for n in range(16, 15916))
    start = len(cie) + 4
    fde = struct.pack("<IiI", start + 4, 0, 15950) + b"\0" + rules
    fde += b"\0" * (-len(fde) % 4)
    address = 0x20000
    fde = struct.pack("<Ii", start + 4, PAGE - (address + start + 8)) + fde[8:]
    elf = Elf()
    elf.add(b".eh_frame", SHT_PROGBITS,
            struct.pack("<I", len(cie)) + cie + struct.pack("<I", len(fde)) + fde + bytes(4), address=address)
    elf.write(path)


def long_map(path):
    block = b"".join(b"7fPPPP%03x000 10 JS:~a function of some length %d\n" % (i, i) for i in range(1000))
    with open(path, "wb") as f:
        for prefix in range(1000):
            f.write(block.replace(b"PPPP", b"%04x" % prefix))


def long_line(path):
    with open(path, "wb") as f:
        f.write(b"7f0000001000 10 ")
        f.truncate(1200 << 20)


HOSTILE = (
    ("as many segments as can be said", headers, None),
    ("a million symbols without an end", names_without_end, None),
    ("sections of 1.9 GiB that are a hole", sparse, "it is shorter than its headers claim"),
    ("a packed symbol table of 192 MiB", bomb, "it is broken"),
    ("a name that becomes endless", endless_name, "reading it takes too long"),
    ("rules of half the unwind tables", thief, "no unwind table: it exceeds the limits"),
    ("a JIT's map of a million lines", long_map, None),
    ("a JIT's map of one line of 1.2 GiB", long_line, None),
)


JITS = (long_map, long_line)


class Samples:
    """systop --json of a cgroup, read as it arrives."""

    def __init__(self, cgroup):
        self.proc = subprocess.Popen([SYSTOP, "--json", "-d", "0.2", "-F", "499", "-c", cgroup.name],
                                     stdout=subprocess.PIPE, text=True)
        self.ticks = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.proc.stdout:
            self.ticks.append((time.monotonic(), json.loads(line)["stacks"]["cpu"]))

    def wait_for_start(self):
        end_at = time.monotonic() + WAIT_S
        while not self.ticks and time.monotonic() < end_at:
            time.sleep(0.02)
        assert self.ticks, "systop does not start"

    def wait(self, since, what, seconds, why):
        """The time of the first refresh after `since` that includes its CPU time."""
        end = time.monotonic() + seconds
        seen = None
        while time.monotonic() < end and self.proc.poll() is None:
            for at, cpu in list(self.ticks):
                if at > since and cpu["total_ns"] > 20e6:
                    seen = cpu
                    if what(cpu):
                        return at
            time.sleep(0.02)
        raise AssertionError(f"{why}: {seen}, {len(self.ticks)} refreshes")

    def helper(self):
        """The symbols helper."""
        return helper_of(self.proc.pid, "systop-symbols")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proc.kill()
        self.proc.wait()


def is_named(cpu):
    """Whether everything has a name, except samples taken while another process ended."""
    return cpu["unwound_ns"] and cpu["unwound_ns"] >= 0.8 * cpu["total_ns"] and cpu["named_ns"] >= 0.9 * cpu["stacks_ns"]


def status_of(pid, name):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return int(re.search(rf"^{name}:\s+(\d+)", f.read(), re.MULTILINE).group(1))


class Place:
    """A folder, a cgroup, programs in it, and a systop that watches it."""

    def __init__(self, folder, cgroup):
        self.folder, self.cgroup = folder, cgroup
        self.spin = self.path("spin")
        subprocess.run(["cc", "-x", "c", "-O2", "-fomit-frame-pointer", "-fasynchronous-unwind-tables", "-nostdlib", "-static",
                        "-fno-stack-protector", "-Wl,--build-id", "-o", self.spin, "-"], input=SPIN, text=True, check=True)
        self.nr = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *command, **options):
        """A program in the cgroup."""
        return subprocess.Popen(command, preexec_fn=lambda: self.cgroup.add(os.getpid()), **options)

    def hostile(self, make, path):
        """A program that runs the code of this file, which is made if it is not there."""
        if not os.path.exists(path):
            make(path)
        command = [sys.executable, "-c", RUN, *(["jit"] if make in JITS else []), path]
        proc = self.start(*command, stdout=subprocess.PIPE)
        proc.stdout.readline()
        return proc

    def victim(self):
        """A new program, not seen before."""
        self.nr += 1
        return self.start(shutil.copy(self.spin, self.path(f"victim{self.nr}")))


def end(proc):
    proc.kill()
    proc.wait()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"/tmp/perf-{proc.pid}.map")


def others_have_names(place, samples, make):
    """While a hostile file is read, a new program gets its names and its table in time. The best of three tries decides, as time
    that the host takes counts, too."""
    took = []
    for attempt in range(3):
        path = place.path(f"{make.__name__}{attempt}")
        since = time.monotonic()
        hostile = place.hostile(make, path)
        try:
            samples.wait(since, bool, WAIT_S, "the hostile file is not met")
            os.kill(hostile.pid, signal.SIGSTOP)
            since = time.monotonic()
            victim = place.victim()
            try:
                took.append(samples.wait(since, is_named, WAIT_S, "no names") - since)
            finally:
                end(victim)
        finally:
            end(hostile)
        if took[-1] <= NAMES_S:
            break
    assert min(took) <= NAMES_S, f"names after {took} s"
    helper = samples.helper()
    if not helper:
        return f"names after {min(took):.1f} s"
    peak = status_of(helper, "VmHWM") >> 10
    assert peak <= 256, f"the helper takes {peak} MiB"
    return f"names after {min(took):.1f} s, the helper takes {peak} MiB"


def stands_back(samples):
    """The symbols helper has no raised priority, and is the first to be killed if memory runs out."""
    pid = samples.helper()
    with open(f"/proc/{pid}/oom_score_adj", encoding="utf-8") as f:
        oom = int(f.read())
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    assert oom == 1000 and nice >= 0, f"oom_score_adj {oom}, nice {nice}"


def told_on_the_health_page(place):
    """Each file is reported with the reason; no file took the tables of others."""
    running = []
    with Terminal(160, 90) as t:
        try:
            t.start("-c", place.cgroup.name, "-F", "499", "--view", "cgroups")
            for _, make, reason in HOSTILE:
                if reason:
                    running.append(place.hostile(make, place.path(f"{make.__name__}0")))
            t.keys("f") # a flamegraph of all: asks for their names
            t.wait("On-CPU")
            t.keys("!")
            for _, make, reason in HOSTILE:
                if reason:
                    t.wait(rf"{make.__name__}0 .*{re.escape(reason)}", WAIT_S)
            rules, evicted = t.wait(r"(\d+) of 16384 rules; (\d+) evicted").groups()
        finally:
            for proc in running:
                end(proc)
    assert int(rules) <= 3 * 2048 and evicted == "0", f"{rules} rules, {evicted} evicted"


# --- Honest giants

def giant(place, symbols=3000000, size=2 << 30):
    """A program with this many functions and this much debug information. Returns its path and CRC."""
    nm = subprocess.run(["nm", "--format=posix", "--defined-only", place.spin], capture_output=True, text=True,
                        check=True).stdout
    own = [line.split() for line in nm.splitlines() if line.split()[1] in "tT"]
    block = b"".join(b"_ZN4many9functions4PPPP3f%03dEv\0" % i for i in range(1000))
    names = [b"\0"]
    functions = b""
    at = 1
    for name, _, address, *length in own:
        functions += symbol(at, int(address, 16), int(length[0], 16) if length else 0)
        names.append(name.encode() + b"\0")
        at += len(names[-1])
    names += [block.replace(b"PPPP", b"%04d" % i) for i in range(symbols // 1000)]
    table = array.array("Q", bytes(24 * symbols))
    step = len(block) // 1000
    head = 0x12 << 32 | 1 << 48
    table[0::3] = array.array("Q", range(head + at, head + at + symbols * step, step))
    # Not in order: linkers do not sort them.
    half = symbols // 2
    table[1::3] = array.array("Q", [*range(0x10000000 + 16 * half, 0x10000000 + 16 * symbols, 16),
                                    *range(0x10000000, 0x10000000 + 16 * half, 16)])
    table[2::3] = array.array("Q", [16]) * symbols
    elf = Elf(place.spin)
    with open(place.spin, "rb") as f:
        base = f.read()
    note = base.index(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0")
    elf.add(b".note.gnu.build-id", 7, base[note:note + 36])
    unwind = subprocess.run(["readelf", "-SW", place.spin], capture_output=True, text=True, check=True).stdout
    address, offset, length = (int(n, 16) for n in
                               re.search(r"\.eh_frame +PROGBITS +(\w+) (\w+) (\w+)", unwind).groups())
    elf.add(b".eh_frame", SHT_PROGBITS, base[offset:offset + length], address=address)
    elf.add(b".debug_line", SHT_PROGBITS, bytes(64))
    elf.symbols(functions + table.tobytes(), b"".join(names))
    used = len(base) + sum(len(s[7]) for s in elf.sections)
    elf.add(b".debug_info", SHT_PROGBITS, b"", size - used)
    path = place.path("giant")
    return path, elf.write(path), base[note + 16:note + 36].hex()


def stripped(place, name, *options):
    path = place.path(name)
    subprocess.run(["objcopy", "--strip-all", *options, place.spin, path], stderr=subprocess.DEVNULL, check=True)
    return path


def giants(place):
    """2 GiB and 3 million functions: in the program itself, and in debug information by build-id and by debuglink."""
    began = time.monotonic()
    path, crc, build_id = giant(place)
    assert os.stat(path).st_size >= 2 << 30, os.stat(path).st_size
    made = time.monotonic() - began
    link = place.path("link")
    with open(link, "wb") as f:
        f.write(b"giant\0\0\0" + struct.pack("<I", crc))
    by_id = stripped(place, "by_build_id")
    by_link = stripped(place, "by_debuglink", "--remove-section=.note.gnu.build-id",
                       f"--add-section=.gnu_debuglink={link}")
    debug = f"/usr/lib/debug/.build-id/{build_id[:2]}"
    os.makedirs(debug, exist_ok=True)
    os.symlink(path, f"{debug}/{build_id[2:]}.debug")
    procs = []
    try:
        with Samples(place.cgroup) as samples:
            samples.wait_for_start()
            # A file that was just installed is in the page cache. Where the hypervisor has no nested paging, that alone
            # takes the kernel up to 15 us a page: 8 s for this file, most of it a hole.
            subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)
            since = time.monotonic()
            # The test measures how long reading them takes: at nice 19 they take no CPU from that.
            procs = [place.start("nice", "-n", "19", p) for p in (path, by_id, by_link)]
            took = samples.wait(since, is_named, WAIT_S + GIANTS_S, "the giants have no names") - since
            peak = status_of(samples.helper(), "VmHWM") >> 10
    finally:
        for proc in procs:
            end(proc)
        os.unlink(f"{debug}/{build_id[2:]}.debug")
        with contextlib.suppress(OSError):
            os.rmdir(debug)
    assert took <= GIANTS_S, f"names after {took:.1f} s"
    assert peak <= 256, f"the helper takes {peak} MiB"
    return f"names after {took:.1f} s, the helper takes {peak} MiB (made in {made:.1f} s)"


def main():
    tap = begin()
    with tempfile.TemporaryDirectory() as folder, Cgroup(f"systop-budgets-{os.getpid()}") as cgroup:
        place = Place(folder, cgroup)
        with Samples(cgroup) as samples:
            samples.wait_for_start()
            for name, make, _ in HOSTILE:
                tap.case(name, others_have_names, place, samples, make)
            tap.case("the helper stands back", stands_back, samples)
        tap.case("files and reasons on the health page", told_on_the_health_page, place)
        tap.case("honest giants", giants, place)
    tap.done()


if __name__ == "__main__":
    main()
