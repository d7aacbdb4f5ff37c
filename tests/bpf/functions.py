# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of programs without symbols: where they begin, and what share they have."""

import bisect
import json
import os
import re
import shutil
import struct
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import LOADS, SYSTOP, begin, load_path, step_back  # noqa: E402
from profiles import Profile  # noqa: E402

SECONDS = "60"

COLD = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sink;
int rare;
__attribute__((cold, noinline)) void spin(void) { for (int i = 0; i < 1000000; i++) sink += i; }
__attribute__((noinline)) void handle(int n)
{
	if (n & 1) { /* moved to handle.cold, as spin() is cold */
		spin();
		sink++;
	}
	sink += n;
}
int main(int argc, char **argv)
{
	time_t end = time(NULL) + atoi(argv[1]);
	printf("{\"tid\": %d}\n", getpid());
	fflush(stdout);
	while (time(NULL) < end)
		handle(argc | 1);
	return 0;
}
"""


# 5, 3 and 2 parts of the same work, in leaf functions that set up no frame.
GO = """
package main

import ("fmt"; "os"; "strconv"; "time")

var sink uint64

//go:noinline
func leaf(n int) uint64 {
	x := uint64(n) | 1
	for i := 0; i < n; i++ { x ^= x << 13; x ^= x >> 7; x ^= x << 17 }
	return x
}
//go:noinline
func alpha(n int) { sink += leaf(5 * n) }
//go:noinline
func beta(n int) { sink += leaf(3 * n) }
//go:noinline
func gamma(n int) { sink += leaf(2 * n) }

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	fmt.Printf("{\\"tid\\": %d}\\n", os.Getpid())
	for time.Now().Before(end) { alpha(100000); beta(100000); gamma(100000) }
}
"""

# What Go's runtime does on another stack: calls of C and of the vDSO, and its own work for memory.
GO_STACKS = """
package main

// static long spin(long n) { volatile long x = 0; for (long i = 0; i < n; i++) x += i; return x; }
import "C"
import ("fmt"; "os"; "strconv"; "time")

var sink int64
var kept [][]byte

//go:noinline
func clock() { for i := 0; i < 10000; i++ { sink += time.Now().UnixNano() } }
//go:noinline
func callC() { sink += int64(C.spin(500000)) }
//go:noinline
func allocate() {
	kept = nil
	for i := 0; i < 20; i++ { kept = append(kept, make([]byte, 300000)) }
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	fmt.Printf("{\\"tid\\": %d}\\n", os.Getpid())
	for time.Now().Before(end) { clock(); callC(); allocate() }
}
"""

CXX = """
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <unistd.h>
namespace work {
volatile uint64_t sink;
[[gnu::noinline]] uint64_t leaf(uint64_t n)
{
	uint64_t x = n | 1;
	for (uint64_t i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
	return x;
}
template <int parts> struct part {
	[[gnu::noinline]] static void run(uint64_t n) { sink += leaf(parts * n); if (n == 1) throw std::runtime_error("one"); }
};
}
int main(int argc, char **argv)
{
	time_t end = time(nullptr) + atoi(argv[argc - 1]);
	printf("{\\"tid\\": %d}\\n", getpid());
	fflush(stdout);
	while (time(nullptr) < end) {
		work::part<5>::run(100000);
		work::part<3>::run(100000);
		work::part<2>::run(100000);
		try { work::part<1>::run(1); } catch (std::exception &) { work::sink++; }
	}
}
"""


def burn(folder, how=None):
    """A copy of burn; "strip": without symbols, "sections": nor section headers, "lies": with a table that lies."""
    path = shutil.copy(load_path("burn"), os.path.join(folder, f"burn-{how}"))
    if how:
        subprocess.run(["strip", "--strip-all", path], check=True)
    if how == "sections":
        with open(path, "r+b") as f:
            f.seek(40)
            f.write(bytes(8))
            f.seek(60)
            f.write(bytes(4))
    if how == "lies":
        out = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
        offset = int(re.search(r"GNU_EH_FRAME +0x([0-9a-f]+)", out)[1], 16)
        with open(path, "r+b") as f:
            f.seek(offset + 8)
            nr = struct.unpack("<I", f.read(4))[0]
            # The table has each function 4 bytes early, where none begins.
            entries = [struct.unpack("<ii", f.read(8)) for _ in range(nr)]
            f.seek(offset + 12)
            f.write(b"".join(struct.pack("<ii", start - 4, fde) for start, fde in entries))
    return path


def measured(command, seconds="1"):
    """Share of each frame in a load that prints {"tid"}, and the best quality of its stacks in a refresh."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as load:
        tid = str(json.loads(load.stdout.readline())["tid"])
        options = ["-F", "1997", "-d", seconds, "-p", tid]
        with subprocess.Popen([SYSTOP, "--json", "-n", "3", *options], stdout=subprocess.PIPE, text=True) as json_of:
            lines = subprocess.run([SYSTOP, "--folded=cpu", "-n", "2", *options], capture_output=True, text=True, check=True).stdout
            found = json_of.communicate()[0]
        assert not json_of.returncode, json_of.returncode
        load.kill()
    counts, total = {}, 0
    for line in lines.splitlines():
        stack, _, weight = line.rpartition(" ")
        total += int(weight)
        for frame in set(stack.split(";")):
            counts[frame] = counts.get(frame, 0) + int(weight)
    # Names that a refresh meets first are known in the next one.
    qualities = [json.loads(line)["stacks"]["cpu"] for line in found.splitlines()[1:]]
    return ({frame: 100 * n / total for frame, n in counts.items()},
            max(qualities, key=lambda q: (q["functions_ns"] - q["unnamed"]["not_read_ns"]) / max(q["stacks_ns"], 1)))


def begins(path):
    """Where each function of burn begins: {name: address}, from its symbols."""
    out = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[2]: int(line.split()[0], 16) for line in out.splitlines() if len(line.split()) == 3}


SHARES = {"alpha": 50, "beta": 30, "gamma_": 20, "work": 100, "main": 100}


def stripped(how):
    """Each function has the share that it has with symbols, under the address at which it begins."""
    with tempfile.TemporaryDirectory() as folder:
        path = burn(folder, how)
        shares, quality = measured([path, "cpu", SECONDS])
        name = os.path.basename(path)
        found = {}
        for function, address in begins(load_path("burn")).items():
            if function in SHARES:
                found[function] = shares.get(f"{name}`fn_{address:x}", 0)
    # The kernel's interrupts and system calls are below work.
    for function, share in SHARES.items():
        assert abs(found[function] - share) < 4, (function, found, shares)
    assert not [frame for frame in shares if "+0x" in frame and frame.startswith(name)], shares
    assert quality["functions_ns"] >= 0.99 * quality["stacks_ns"] > 0, quality
    assert quality["unwound_ns"] >= 0.98 * quality["stacks_ns"], quality
    assert quality["named_ns"] <= 0.7 * quality["stacks_ns"], quality
    assert quality["unnamed"]["stripped_ns"] >= 0.99 * (quality["stacks_ns"] - quality["named_ns"]), quality
    return f"{found}, functions {100 * quality['functions_ns'] / quality['stacks_ns']:.1f} %"


def lies():
    """A table that lies costs the functions' names: they are addresses, under the right callers."""
    with tempfile.TemporaryDirectory() as folder:
        path = burn(folder, "lies")
        shares, quality = measured([path, "cpu", SECONDS])
    assert not [frame for frame in shares if "`fn_" in frame and frame.startswith("burn")], shares
    assert quality["unwound_ns"] >= 0.98 * quality["stacks_ns"] > 0, quality
    assert quality["unnamed"]["no_unwind_ns"] >= 0.95 * (quality["stacks_ns"] - quality["functions_ns"]) > 0, quality


def jit():
    """Code of a JIT compiler that writes no names counts as no function, with that reason."""
    _, quality = measured([load_path("jit"), SECONDS, "-"])
    assert quality["unnamed"]["jit_ns"] >= 0.99 * (quality["stacks_ns"] - quality["functions_ns"]) > 0, quality


def cold():
    """A cold part counts as its function if a symbol names it so, and otherwise as a function of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cold")
        subprocess.run(["gcc", "-O2", "-x", "c", "-o", path, "-"], input=COLD, text=True, check=True)
        at = begins(path)
        assert "handle.cold" in at, at
        whole, _ = measured([path, SECONDS])
        subprocess.run(["strip", "--strip-all", path], check=True)
        bare, _ = measured([path, SECONDS])
    assert whole.get("handle", 0) > 90 and "handle.cold" not in whole, whole
    assert bare.get(f"cold`fn_{at['handle.cold']:x}", 0) > 90, bare


def compiled(compiler, source, ending, parts, environment=None):
    """A stripped program in which functions call a leaf function for known parts of the time. @parts: {name as by nm -C:
    percent}. Those of a Go program have names; the others are known by where they begin."""
    with tempfile.TemporaryDirectory() as folder:
        path, text = os.path.join(folder, "parts"), os.path.join(folder, f"parts.{ending}")
        with open(text, "w", encoding="ascii") as f:
            f.write(source)
        subprocess.run([*compiler, "-o", path, text], check=True, env={**os.environ, **(environment or {})})
        out = subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout
        at = {line.split(" ", 2)[2]: int(line.split()[0], 16) for line in out.splitlines() if not line.startswith(" ")}
        subprocess.run(["strip", "--strip-all", path], check=True)
        shares, quality = measured([path, SECONDS])
    found = {name: shares.get(name if ending == "go" else f"parts`fn_{at[name]:x}", 0) for name in parts}
    for name, part in parts.items():
        assert abs(found[name] - part) < 4, (name, found, shares)
    assert quality["functions_ns"] >= 0.99 * quality["stacks_ns"] > 0, quality
    assert quality["unwound_ns"] >= 0.97 * quality["stacks_ns"], quality
    return f"{ {name: round(share, 1) for name, share in found.items()} }"


class Functions:
    """Those of a program with symbols. Names of one place are one function, and so is a part that was moved elsewhere
    (.cold)."""

    def __init__(self, path):
        out = subprocess.run(["nm", "-S", "--defined-only", path], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in out.splitlines()]
        of, self.begins, self.ends = {}, [], {}
        for at, size, name in ((int(r[0], 16), int(r[1], 16), r[3]) for r in rows if len(r) == 4 and r[2] in "tTwWiu"):
            of.setdefault(at, []).append(re.sub(r"\.cold(\.\d+)?$", "", name))
            self.ends[at] = max(self.ends.get(at, 0), at + size)
        self.same = {name: sorted(names)[0] for names in of.values() for name in names}
        self.at = {at: self.same[names[0]] for at, names in of.items()}
        self.begins = sorted(of)

    def of_address(self, address):
        """The function at an address; None: there is none."""
        nr = bisect.bisect_right(self.begins, address) - 1
        return self.at[self.begins[nr]] if nr >= 0 and address < self.ends[self.begins[nr]] else None

    def of_name(self, name):
        """The function that systop names."""
        begin = re.fullmatch(r".*`fn_([0-9a-f]+)", name or "")
        return self.at.get(int(begin[1], 16), name) if begin else self.same.get(name, name)


def share_of_each(profile, path, function):
    """Percent of the samples with a frame in the file in which each function is innermost, and in which it is."""
    own, every, total = {}, {}, 0
    for weights, places in profile.places(path):
        weight = weights["cpu_samples"]
        total += weight if places else 0
        for name in {function(address, name) for _, address, name in places}:
            every[name] = every.get(name, 0) + 100 * weight
        if places and not places[0][0]:
            name = function(*places[0][1:])
            own[name] = own.get(name, 0) + 100 * weight
    return [{name: n / total for name, n in of.items()} for of in (own, every)], total


def compared(command, path, functions, *options, seconds=2):
    """A run over a load, which is a shell or another process with its children: the share of each function of @path, as systop
    names it, with that by the address of each frame and the symbols of the program."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as load:
        step_back(load.pid)
        try:
            time.sleep(1)
            with tempfile.TemporaryDirectory() as folder:
                # Names that a refresh meets first are known in the next one.
                subprocess.run([SYSTOP, "--pprof", f"{folder}/p.gz", "-F", "1997", "-d", str(seconds), "-n", "3", "-p",
                                str(load.pid), *options], check=True, stderr=subprocess.DEVNULL)
                with open(f"{folder}/p.gz", "rb") as f:
                    profile = Profile(f.read())
        finally:
            os.killpg(load.pid, signal.SIGKILL)
    ours, total = share_of_each(profile, path, lambda _, name: functions.of_name(name))
    theirs, _ = share_of_each(profile, path, lambda address, _: functions.of_address(address))
    worst = [max((abs(a.get(name, 0) - b.get(name, 0)), str(name)) for name in {**a, **b}) for a, b in zip(ours, theirs)]
    frames = [(weights["cpu_samples"], address, name) for weights, places in profile.places(path) for _, address, name in places]
    lacking = [f for f in frames if not f[2]]
    made_up = sum(n for n, _, name in frames if name and "`fn_" in name)
    everything = sum(n for n, _, _ in frames)
    found = f"{total} samples, {len(theirs[1])} functions, {100 - 100 * sum(f[0] for f in lacking) / everything:.3f} % of the frames " \
            f"are functions, {100 * made_up / everything:.1f} % without a name; largest difference of a share: own " \
            f"{worst[0][0]:.2f} points ({worst[0][1]}), all {worst[1][0]:.2f} ({worst[1][1]})"
    assert total > 500 and len(theirs[1]) > 10, found
    assert sum(f[0] for f in lacking) <= 0.0005 * everything, f"{found}: {[hex(f[1]) for f in lacking][:9]}"
    assert worst[0][0] < 1 and worst[1][0] < 1, found
    return made_up / everything, found


def without_and_with(command, path, functions, folder, **more):
    """Without the debug file of a stripped program, and with it, from @folder: each function has its share."""
    with tempfile.TemporaryDirectory() as nothing:
        bare, text = compared(command, path, functions, "--symbol-dir", nothing, **more)
    named, text_named = compared(command, path, functions, "--symbol-dir", folder, **more)
    assert bare > 0.1 and not named, (bare, named)
    return f"{text}\n# with its debug file: {text_named}"


def debug_file():
    """A program of a thousand functions, which draws screens again and again."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "screens")
        shutil.copy(os.path.join(os.path.dirname(LOADS), "golden", "golden"), path)
        functions = Functions(path)
        subprocess.run(["objcopy", "--only-keep-debug", path, f"{folder}/screens.debug"], check=True)
        subprocess.run(["strip", "--strip-all", path], check=True)
        os.mkdir(f"{folder}/debug")
        os.rename(f"{folder}/screens.debug", f"{folder}/debug/screens.debug")
        subprocess.run(["objcopy", f"--add-gnu-debuglink={folder}/debug/screens.debug", path], check=True)
        source = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
        return without_and_with(["bash", "-c", f"while :; do srcdir={source} {path}; done"], path, functions, f"{folder}/debug")


def go():
    return compiled(["go", "build"], GO, "go", {"main.alpha": 50, "main.beta": 30, "main.gamma": 20, "main.leaf": 100,
                                                "main.main": 100}, {"GO111MODULE": "off", "GOFLAGS": ""})


def go_stacks():
    """Stacks are whole although Go's runtime switches stacks below."""
    with tempfile.TemporaryDirectory() as folder:
        path, text = os.path.join(folder, "stacks"), os.path.join(folder, "stacks.go")
        with open(text, "w", encoding="ascii") as f:
            f.write(GO_STACKS)
        subprocess.run(["go", "build", "-o", path, text], check=True,
                       env={**os.environ, "GO111MODULE": "off", "GOFLAGS": "", "CGO_ENABLED": "1"})
        shares, quality = measured([path, SECONDS])
    found = {name: round(shares.get(f"main.{name}", 0), 1) for name in ("clock", "callC", "allocate")}
    whole = 100 * quality["unwound_ns"] / quality["stacks_ns"]
    assert min(found.values()) > 5 and whole >= 98, (found, whole)
    return f"{found}, {whole:.1f} % whole"


def cxx():
    return compiled(["c++", "-O2"], CXX, "cc", {"work::part<5>::run(unsigned long)": 50, "work::part<3>::run(unsigned long)": 30,
                                                "work::part<2>::run(unsigned long)": 20, "work::leaf(unsigned long)": 100,
                                                "main": 100})


def debian():
    """The distribution's shell and sort, which are stripped: nearly all frames are functions, few are named."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        lines = os.path.join(folder, "lines")
        with open(lines, "w", encoding="ascii") as f:
            f.writelines(f"{i * 7919 % 1000003}\n" for i in range(400000))
        loads = {"bash": ["bash", "-c", 'echo "{\\"tid\\": $$}"; while :; do x=$((x * 3 + 1)); done'],
                 "sort": ["bash", "-c", f'echo "{{\\"tid\\": $$}}"; while :; do sort --parallel=1 -n {lines} > /dev/null; done']}
        for name, command in loads.items():
            _, quality = measured(command)
            found[name] = 100 * quality["functions_ns"] / quality["stacks_ns"]
    assert min(found.values()) >= 97, found
    return f"functions: {found} %"


def main():
    tap = begin()
    tap.together([
        ("without symbols", stripped, "strip"),
        ("without section headers", stripped, "sections"),
        ("a table that lies", lies),
        ("a JIT compiler without names", jit),
        ("cold parts", cold),
        ("without and with the debug file", debug_file),
        ("a Go program", go),
        ("a Go program that calls C and its runtime", go_stacks),
        ("a C++ program", cxx),
        ("programs of the distribution", debian),
    ], 3)
    tap.done()


main()
