# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks whether the BPF programs suit the running kernel, kernels derived from its types, and those in the cache:
see tests/btf/check. Prints TAP; needs no root."""

import gzip
import lzma
import os
import platform
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "bpf"))
import kernels  # noqa: E402
from harness import Tap  # noqa: E402

BUILD = os.path.dirname(os.path.abspath(os.environ.get("SYSTOP", "build/systop")))
CACHE = os.environ.get("SYSTOP_VM_CACHE") or os.path.join(BUILD, "vm-cache")
HERE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine())
RUNNING = "/sys/kernel/btf/vmlinux"
SUITS, WRONG, REFUSED = 0, 1, 3
NO_STORAGE = "none of which may make storage at a switch"  # so before Linux 6.4
NO_USER_STACKS = "none of which walks user stacks"

STORAGE_MEMORY = ("--without", "bpf_local_storage_map.bpf_ma", "--without", "bpf_local_storage_elem.free_node")


def running():
    with open(RUNNING, "rb") as f:
        return f.read()


def look(status, said, *options, architecture=HERE):
    """The result for the running kernel's types, changed by options."""
    got, what = kernels.relocate(BUILD, architecture, running(), *options)
    assert got == status and said in what, f"{' '.join(options)}: status {got}, not {status}; {said!r} is not in:\n{what}"
    return what


def a_field_less():
    """The purpose of the check: for a missing field it reports the line that reads it."""
    what = look(WRONG, "seed_task", "--without", "task_struct.wake_cpu")
    assert "bpf/seed.bpf.c:" in what and "t->wake_cpu" in what, what


def before_the_maple_tree():
    """Linux 5.18 to 6.0: a sampler accepts only preallocated hash maps."""
    look(SUITS, NO_USER_STACKS, "--without", "maple_range_64", "--without", "mm_struct.mm_mt")


def packed():
    """Types are found in a kernel in any packing."""
    btf = running()
    image = b"\x7fELF" + bytes(5000) + btf + bytes(3000)
    zstd = subprocess.run(["zstd", "-1", "-c"], input=image, stdout=subprocess.PIPE, check=True).stdout
    for how, data in (("not packed", image), ("gzip", gzip.compress(image, 1)), ("xz", lzma.compress(image, preset=0)),
                      ("zstd", zstd)):
        found = kernels.btf_of(b"MZ" + bytes(777) + data + bytes(99))
        assert found == btf, f"{how}: {len(found) if found else 'nothing'} of {len(btf)} bytes"
    assert kernels.btf_of(bytes(1 << 16)) is None, "types in a file of zeros"


def chosen():
    """The newest of each series and flavour, and of two packages the one with the kernel."""
    names = ["linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-56-cloud-amd64", "linux-image-6.1.0-56-rt-amd64",
             "linux-image-7.2.9+deb13-arm64-16k", "linux-image-7.2.13+deb14-arm64-16k",
             "linux-binary-7.2.13+deb14-arm64-16k", "linux-image-6.1.0-56-amd64-dbg",
             "linux-image-6.1.0-56-amd64-unsigned", "linux-image-amd64"]
    wanted = ["linux-binary-7.2.13+deb14-arm64-16k", "linux-image-6.1.0-56-cloud-amd64", "linux-image-6.1.0-56-rt-amd64"]
    got = sorted(kernels.newest(names))
    assert got == wanted, got


def kept(architecture, names):
    for name in names:
        path = os.path.join(CACHE, f"{name}.btf.gz")
        if not os.path.getsize(path):
            continue
        status, what = kernels.relocate(BUILD, architecture, kernels.read(path))
        assert status in (SUITS, REFUSED), f"{name}: status {status}\n{what}"
        if status == SUITS and kernels.version_key(name) >= [6, 4]:
            assert NO_STORAGE not in what, f"{name}: {what}"
    return f"{len(names)} kernels"


def main():
    tap = Tap()
    tap.case("types are found, however a kernel is packed", packed)
    tap.case("which kernels are taken of an archive", chosen)
    if HERE:
        tap.case("the running kernel", look, SUITS, "programs")
        tap.case("each number is one byte", look, SUITS, "programs", "--narrow")
        tap.case("without a field", a_field_less)
        tap.case("without memory of task storage's own", look, SUITS, NO_STORAGE, *STORAGE_MEMORY)
        tap.case("without a maple tree", before_the_maple_tree)
        tap.case("nodes of a maple tree have another number of pivots", look, SUITS, NO_USER_STACKS, "--pivots", "14")
        tap.case("without bpf_rdonly_cast()", look, SUITS, "programs", "--without", "bpf_rdonly_cast")
        tap.case("sched_switch does not report the state", look, REFUSED, "prev_state of sched_switch (Linux 5.18)",
                 "--arguments", "3")
        tap.case("without task storage", look, REFUSED, "BPF task storage (Linux 5.11)",
                 "--without", "bpf_map_type.BPF_MAP_TYPE_TASK_STORAGE")
        tap.case("pages of 64 KiB", look, SUITS, "programs", "--page-size", "65536")
    tap.case("what arm64 writes is in order", lambda: look(SUITS, "programs", "--order", architecture="arm64"))
    for architecture in kernels.ARCHITECTURES:
        names = kernels.kept(CACHE, architecture)
        if names:
            tap.case(f"kernels that are kept, {architecture}", kept, architecture, names)
        else:
            tap.skip(f"kernels that are kept, {architecture}", f"none in {CACHE}: scripts/check btf fetches them")
    print(f"1..{tap.nr}")
    return 1 if tap.failed else 0


sys.exit(main())
