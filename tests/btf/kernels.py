# SPDX-License-Identifier: GPL-2.0-or-later
"""The type information (BTF) of Debian's kernels, extracted from their packages and stored: one file per kernel."""

import gzip
import lzma
import os
import re
import struct
import subprocess
import tempfile
import zlib

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ARCHIVE = os.path.join(TOP, "tests", "archive")
ARCHITECTURES = ("amd64", "arm64")

# linux-image-6.1.0-56-cloud-amd64, linux-binary-7.2.13+deb14-rt-amd64: version, flavour.
NAME = re.compile(r"linux-(?:image|binary)-(\d+\.\d+[^-]*(?:-\d+)?)-((?:cloud-|rt-)?(?:amd64|arm64)(?:-16k)?)")

# struct btf_header: magic, version, flags, the header's length; then the places of types and strings.
HEADER = struct.Struct("<HBBIIIII")
HEADER_START = bytes((0x9F, 0xEB, 1, 0)) + struct.pack("<I", HEADER.size) + bytes(4)
LEAST_BYTES = 1 << 20


def packed_with(image, magic, unpack):
    """The contents of each stream that begins with magic."""
    at = image.find(magic)
    while at >= 0:
        try:
            yield unpack(image[at:])
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, subprocess.CalledProcessError):
            pass
        at = image.find(magic, at + 1)


def unpack_gzip(data):
    return zlib.decompressobj(wbits=31).decompress(data)


def unpack_xz(data):
    return lzma.LZMADecompressor().decompress(data)


def unpack_by(*command):
    """Unpacks a stream that is followed by something else: the tool prints the contents and complains about the rest."""

    def unpack(data):
        return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout

    return unpack


PACKINGS = (
    (b"\x28\xb5\x2f\xfd", unpack_by("zstd", "-dc")),
    (b"\xfd7zXZ\x00", unpack_xz),
    (b"\x1f\x8b\x08", unpack_gzip),
    (b"\x02\x21\x4c\x18", unpack_by("lz4", "-dc")),
)


def find_btf(kernel):
    """The BTF in an unpacked kernel, or None."""
    at = kernel.find(HEADER_START)
    while at >= 0:
        _, _, _, size, _, type_bytes, string_at, string_bytes = HEADER.unpack_from(kernel, at)
        end = at + size + string_at + string_bytes
        if type_bytes >= LEAST_BYTES and string_at >= type_bytes and end <= len(kernel):
            return kernel[at:end]
        at = kernel.find(HEADER_START, at + 1)
    return None


def btf_of(image):
    """The BTF of a vmlinuz or Image, or None."""
    found = find_btf(image)
    for magic, unpack in PACKINGS:
        if found:
            break
        for kernel in packed_with(image, magic, unpack):
            found = find_btf(kernel)
            if found:
                break
    return found


def version_key(name):
    return [int(part) if part.isdigit() else 0 for part in re.split(r"\D+", NAME.fullmatch(name)[1])]


def newest(names):
    """For each series (6.12) and flavour (cloud-amd64) the package with the highest version. If the kernel itself is
    in linux-binary-*, linux-image-* does not have it."""
    best = {}
    for name in names:
        match = NAME.fullmatch(name)
        if not match:
            continue
        series = ".".join(match[1].split(".")[:2])
        rank = (version_key(name), name.startswith("linux-binary-"))
        key = (match[2], re.match(r"[\d.]+", series)[0])
        if key not in best or rank > best[key][0]:
            best[key] = (rank, name)
    return sorted((name for _, name in best.values()), key=version_key)


def archive(cache, architecture, *command):
    return subprocess.run([ARCHIVE, cache, architecture, *command], stdout=subprocess.PIPE, text=True, check=True).stdout


def image_of(package):
    """The kernel in a package."""
    tree = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    with tree:
        image = subprocess.run(["tar", "-x", "-O", "--wildcards", "--no-anchored", "vmlinuz*"],
                               stdin=tree.stdout, stdout=subprocess.PIPE, check=True).stdout
    return image


def keep(cache, name, architecture):
    """Fetches a kernel and stores its BTF. Returns the file, or None: the kernel has none."""
    path = os.path.join(cache, f"{name}.btf.gz")
    if os.path.exists(path):
        return path if os.path.getsize(path) else None
    package = archive(cache, architecture, "fetch", name).strip()
    btf = btf_of(image_of(package))
    os.unlink(package)
    with open(f"{path}.new", "wb") as f:
        if btf:
            f.write(gzip.compress(btf, 6))
    os.rename(f"{path}.new", path)
    return path if btf else None


def names(cache, architecture):
    """The kernels of Debian's archive, the newest of each series and flavour; without apt, those in the cache."""
    try:
        archive(cache, architecture, "update")
        return newest(archive(cache, architecture, "names").split())
    except subprocess.CalledProcessError:
        return kept(cache, architecture)


def kept(cache, architecture):
    """The kernels whose types are in the cache."""
    files = os.listdir(cache) if os.path.isdir(cache) else []
    found = [name[: -len(".btf.gz")] for name in files if name.endswith(".btf.gz")]
    return newest(name for name in found if NAME.fullmatch(name) and architecture in NAME.fullmatch(name)[2])


def relocate(build, architecture, btf, *options):
    """Checks the programs' objects against types. Returns the exit status (0: they suit; 1: they do not; 3: systop
    refuses to run there) and the messages."""
    machine = {"amd64": "x86", "arm64": "arm64"}[architecture]
    with tempfile.NamedTemporaryFile(suffix=".btf") as f:
        f.write(btf)
        f.flush()
        done = subprocess.run([os.path.join(build, "tests", "btf", f"relocate-{machine}"), *options, f.name],
                              capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def read(path):
    with gzip.open(path) as f:
        return f.read()
