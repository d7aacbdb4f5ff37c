# SPDX-License-Identifier: GPL-2.0-or-later
"""--pprof FILE, as read by protoc and go tool pprof: shares of known loads, their labels, and files without symbols."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import SEC, SYSTOP, Cgroup, Late, Load, begin, bpf_ids, bpf_left, descendants, load_path, \
    name_of  # noqa: E402
from profiles import Profile, first  # noqa: E402
from protoc import SOURCE  # noqa: E402

SYSTOP = os.path.abspath(SYSTOP)
# Tolerance of shares, in parts of 1: as for --folded, with some hundred samples.
NEAR = 0.08


def profile_of(*args, seconds, **more):
    """The profile of a run of one interval."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "p.gz")
        subprocess.run([SYSTOP, "--pprof", path, "-n", "1", "-d", str(seconds), *args], check=True, timeout=90,
                       stderr=subprocess.DEVNULL, **more)
        assert os.listdir(d) == ["p.gz"], os.listdir(d)
        with open(path, "rb") as f:
            return Profile(f.read())


def go_pprof(path, *args):
    """What go tool pprof prints. Newer Go compiles it when it is used for the first time, which takes minutes of CPU."""
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run(["go", "tool", "pprof", *args, path], capture_output=True, text=True, check=True, timeout=600,
                              env={**os.environ, "HOME": home, "PPROF_TMPDIR": home}).stdout


def near_of(samples):
    """4 standard deviations of a share of one half: on a busy host there are few samples."""
    return max(NEAR, 2 / samples ** 0.5)


def on_cpu():
    """Functions have the same shares as in --folded of the same seconds; each weight is a type of the samples."""
    with Load(load_path("burn"), "cpu", "60") as load:
        with subprocess.Popen([SYSTOP, "--folded=cpu", "-n", "1", "-d", "2", "-F", "499", "-p", str(load.pid)],
                              stdout=subprocess.PIPE, text=True) as other:
            before = time.time()
            profile = profile_of("-F", "499", "-p", str(load.pid), seconds=2)
            folded = other.stdout.read()
    help_text = subprocess.run([SYSTOP, "--help"], capture_output=True, text=True, check=True).stdout
    kinds = re.search(r"FlameGraph's folded format:\s+([\w\s,]+)", help_text)[1]
    for kind in re.findall(r"\w+", kinds.replace(" or ", ", "))[:6]:
        assert kind in [name for name, _ in profile.types], (kind, profile.types)
    assert ("cpu", "nanoseconds") in profile.types and ("cpu_samples", "count") in profile.types, profile.types
    lines = [line.rsplit(" ", 1) for line in folded.splitlines()]
    everything = sum(int(n) for _, n in lines)
    near = near_of(min(profile.sum("cpu_samples"), everything))  # both are samples, of not quite the same seconds
    for function, share in ("alpha", 0.5), ("beta", 0.3), ("gamma_", 0.2):
        got = profile.sum("cpu_samples", function) / profile.sum("cpu_samples")
        also = sum(int(n) for stack, n in lines if function in stack.split(";")) / everything
        assert abs(got - share) < near and abs(got - also) < near, (function, got, also, profile.sum("cpu_samples"))
        by_time = profile.sum("cpu", function) / profile.sum("cpu")
        assert abs(by_time - got) < NEAR, (function, by_time, got)
    began, took = first(profile.fields, "time_nanos") / SEC, first(profile.fields, "duration_nanos") / SEC
    assert before - 1 < began < before + 30 and 1.8 < took < 15, (before, began, took)
    assert profile.text(profile.fields, "default_sample_type") == "cpu"
    assert 0 < profile.sum("cpu") < (took + 0.5) * SEC, profile.sum("cpu")
    return f"{profile.sum('cpu_samples')} samples"


def blocked():
    """Each weight has its own stacks; wall is all of them."""
    with Load(load_path("burn"), "block", "6") as load:
        load.truth()
        profile = profile_of("-p", str(load.pid), seconds=3)
        if load.proc.poll() is not None:
            raise Late("the load ended before its profile did")
        truth = load.truth()
    d, sleep = profile.sum("d", "vfork_here"), profile.sum("sleep", "nap_here")
    rate = truth["d_ns"] / (truth["d_ns"] + truth["sleep_ns"])
    assert d and sleep and abs(d / (d + sleep) - rate) < NEAR, (d, sleep, truth)
    assert not profile.sum("d", "nap_here") and not profile.sum("cpu_samples", "[no stack]"), "another weight's stack"
    for _, values, _ in profile.samples:
        assert values["wall"] == sum(values[k] for k in ("cpu", "runq", "sleep", "d", "irq")), values


def labels():
    """The thread, process and cgroup of a sample."""
    with Cgroup(f"systop-pprof-{os.getpid()}") as cgroup, Load(load_path("burn"), "cpu", "60") as load:
        cgroup.add(load.pid)
        # burn's functions take turns every 10 ms, which 99 samples a second would follow.
        profile = profile_of("-F", "997", "-c", f"/{cgroup.name}", seconds=2)
        want = {"thread": "burn", "tid": load.pid, "process": "burn", "pid": load.pid, "cgroup": f"/{cgroup.name}"}
        found = [labels for _, _, labels in profile.samples]
        assert found and all(l == want for l in found), (found[:3], want)
        share = profile.sum("cpu", "alpha") / profile.sum("cpu")
        assert abs(share - 0.5) < NEAR + near_of(profile.sum("cpu_samples")), (share, profile.sum("cpu_samples"))


def refreshes_add_up():
    """One profile of all intervals; the file appears only at the end."""
    with tempfile.TemporaryDirectory() as d, Load(load_path("burn"), "cpu", "60") as load:
        path = os.path.join(d, "p.gz")
        with subprocess.Popen([SYSTOP, "--pprof", path, "-n", "4", "-d", "0.5", "-p", str(load.pid)],
                              stderr=subprocess.PIPE, text=True) as systop:
            time.sleep(1)
            assert not os.listdir(d), os.listdir(d)
            said = systop.stderr.read()
        assert systop.returncode == 0 and f"saved {path}: " in said, (systop.returncode, said)
        with open(path, "rb") as f:
            profile = Profile(f.read())
        took = first(profile.fields, "duration_nanos")
        assert 1.8 * SEC < took < 20 * SEC and 0 < profile.sum("cpu") <= took, (took, profile.sum("cpu"))
        stacks = [(tuple(stack), tuple(sorted(l.items()))) for stack, _, l in profile.samples if None not in stack]
        assert len(stacks) == len(set(stacks)) or len(profile.locations) > len(set(profile.names.values())), "twice"


def without_symbols():
    """A file without symbols is named by its debug information, in the place where pprof looks for the file. Its
    code is at addresses that differ from the offsets in it."""
    with tempfile.TemporaryDirectory() as d:
        full, path, debug, out = (os.path.join(d, name) for name in ("full", "burn", "debug", "p.gz"))
        source = os.path.join(SOURCE, "tests/load/burn.c")
        subprocess.run(["cc", "-g", "-O2", "-no-pie", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                        "-D_GNU_SOURCE=", "-o", full, source], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", full, debug], check=True)
        subprocess.run(["objcopy", "--strip-all", full, path], check=True)
        with Load(path, "cpu", "60") as load:
            subprocess.run([SYSTOP, "--pprof", out, "-n", "1", "-d", "1.5", "-F", "499", "-p", str(load.pid)], check=True,
                           stderr=subprocess.DEVNULL, timeout=90)
        with open(out, "rb") as f:
            profile = Profile(f.read())
        nameless = [m for m in profile.mappings.values() if profile.text(m, "filename") == path]
        build_id = re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                                                                check=True).stdout)[1]
        assert len(nameless) == 1 and profile.text(nameless[0], "build_id") == build_id, (nameless, build_id)
        assert "has_functions" not in nameless[0], nameless
        names = {name for stack, _, _ in profile.samples for name in stack if name}
        assert [name for name in names if name.startswith("burn`fn_")] and "alpha" not in names, names
        assert "alpha" not in go_pprof(out, "-top", "-cum"), "it has symbols"
        os.replace(debug, path)
        shares = {name: float(share) for share, name in
                  re.findall(r"([\d.]+)%\s+(alpha|beta|gamma_)$", go_pprof(out, "-top", "-cum"), re.MULTILINE)}
        for function, share in ("alpha", 50), ("beta", 30), ("gamma_", 20):
            assert abs(shares[function] - share) < 100 * NEAR + 2, shares
        return str(shares)


def interrupted():
    """A signal ends the recording: what there is by then is saved, with success."""
    before = bpf_ids()
    with tempfile.TemporaryDirectory() as d, Load(load_path("burn"), "cpu", "60") as load:
        path = os.path.join(d, "p.gz")
        with subprocess.Popen([SYSTOP, "--pprof", path, "-d", "60", "-p", str(load.pid)], stderr=subprocess.PIPE,
                              text=True) as systop:
            end = time.monotonic() + 30
            while "systop-symbols" not in [name_of(p) for p in descendants(systop.pid)] and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(1.5)
            systop.send_signal(signal.SIGINT)
            said = systop.stderr.read()
        assert systop.returncode == 0 and "saved " in said, (systop.returncode, said)
        with open(path, "rb") as f:
            profile = Profile(f.read())
        assert profile.sum("cpu", "alpha") > 0, (said, profile.sum("wall"))
        assert os.listdir(d) == ["p.gz"], os.listdir(d)
        assert os.stat(path).st_mode & 0o777 == 0o600, oct(os.stat(path).st_mode)
    assert not bpf_left(before), "BPF is left"


def streams():
    """Standard output has the profile; without room the old file stays."""
    done = subprocess.run([SYSTOP, "--pprof", "-", "-n", "1", "-d", "1"], capture_output=True, check=True, timeout=90)
    assert Profile(done.stdout).sum("wall") > 0
    with tempfile.TemporaryDirectory() as d:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", d], check=True)
        try:
            path = os.path.join(d, "p.gz")
            with open(path, "w") as f:
                f.write("old")
            done = subprocess.run([SYSTOP, "--pprof", path, "-n", "1", "-d", "1"], capture_output=True, text=True, check=False,
                                  timeout=90)
            assert done.returncode == 1 and "No space left on device (need " in done.stderr, done
            assert os.listdir(d) == ["p.gz"] and open(path).read() == "old", os.listdir(d)
        finally:
            subprocess.run(["umount", "-l", d], check=True)


def main():
    tap = begin()
    tap.case("functions have their shares, as --folded has them", on_cpu)
    tap.case("blocked time has its stacks, by weight", blocked)
    tap.case("samples have their thread, process and cgroup", labels)
    tap.case("all intervals are one profile", refreshes_add_up)
    tap.case("a file without symbols is named by its debug information", without_symbols)
    tap.case("a signal ends the recording, not the profile", interrupted)
    tap.case("standard output; no room", streams)
    tap.done()


main()
