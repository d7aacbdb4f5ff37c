# SPDX-License-Identifier: GPL-2.0-or-later
"""A file system with some programs that can stop answering: FUSE, without a library.

A process of its own serves it. It stores requests that it does not answer, and answers them later.
"""

import ctypes
import os
import select
import signal
import struct
import subprocess
import tempfile
import time

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, RELEASEDIR = \
    1, 2, 3, 14, 15, 17, 18, 25, 26, 27, 29
BATCH_FORGET, INTERRUPT = 42, 36
UNANSWERED = (FORGET, BATCH_FORGET, INTERRUPT)
STOPS = {"FLUSH": (FLUSH,), "OPEN": (OPEN,), "READ": (READ,), "all": tuple(range(1, 64)), "none": ()}
FOREVER = 1 << 30
KEEP_CACHE = 2
ENOENT, ENOSYS = 2, 38
DT_DIR, DT_FILE = 0o040755, 0o100755


class Server:
    """The serving process."""

    def __init__(self, fuse, control, programs):
        self.fuse, self.control = fuse, control
        self.names = {name.encode(): 2 + i for i, name in enumerate(programs)}
        self.data = {2 + i: data for i, data in enumerate(programs.values())}
        self.stopped, self.kept = (), []

    def attributes(self, node):
        size = len(self.data.get(node, b""))
        return struct.pack("<6Q10I", node, size, (size + 511) // 512, 1000, 1000, 1000, 0, 0, 0,
                           DT_FILE if node in self.data else DT_DIR, 1, 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        """(errno, bytes)."""
        if opcode == INIT:
            return 0, struct.pack("<4I2H2I2H2I6I", 7, 31, 4096, 0, 12, 9, 65536, 1, 16, 0, 0, 0, *[0] * 6)
        if opcode == LOOKUP:
            found = self.names.get(body.rstrip(b"\0"))
            if not found:
                return ENOENT, b""
            return 0, struct.pack("<4Q2I", found, 0, FOREVER, FOREVER, 0, 0) + self.attributes(found)
        if opcode == GETATTR:
            return 0, struct.pack("<Q2I", FOREVER, 0, 0) + self.attributes(node)
        if opcode in (OPEN, OPENDIR):
            return 0, struct.pack("<QII", node, KEEP_CACHE, 0)  # pages of running programs stay in memory
        if opcode == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            return 0, self.data[node][offset:offset + size]
        if opcode == STATFS:
            return 0, bytes(80)
        if opcode in (FLUSH, RELEASE, RELEASEDIR):
            return 0, b""
        return ENOSYS, b""

    def reply(self, opcode, unique, node, body):
        err, out = self.answer(opcode, node, body)
        try:
            os.write(self.fuse, struct.pack("<IiQ", 16 + len(out), -err, unique) + out)
        except OSError:
            pass  # the caller was killed

    def order(self):
        """Reads an order of the test: which requests are not answered from now on. Returns whether there was one."""
        text = os.read(self.control.fileno(), 64).decode()
        if not text:
            return False
        self.stopped = STOPS[text]
        kept, self.kept = self.kept, []
        for request in kept:
            self.reply(*request)
        self.control.send(b"done")
        return True

    def request(self):
        message = os.read(self.fuse, 1 << 20)
        _, opcode, unique, node, _, _, pid, _ = struct.unpack_from("<IIQQIIII", message)
        request = (opcode, unique, node, message[40:])
        if opcode in UNANSWERED:
            return
        if opcode in self.stopped:
            self.kept.append(request)
            self.control.send(f"{opcode} {pid}".encode())
        else:
            self.reply(*request)

    def run(self):
        poll = select.poll()
        poll.register(self.fuse, select.POLLIN)
        poll.register(self.control, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd != self.fuse:
                    if not self.order():
                        return
                    continue
                try:
                    self.request()
                except OSError:
                    return  # unmounted


class Fuse:
    """Mounts it: mount, the folder. It holds copies of programs."""

    def __init__(self, *programs):
        self.programs = {}
        for path in programs:
            with open(path, "rb") as f:
                self.programs[os.path.basename(path)] = f.read()
        self.kept = []  # (opcode, pid) of unanswered requests

    def __enter__(self):
        import socket
        libc = ctypes.CDLL(None, use_errno=True)
        self.mount = tempfile.mkdtemp()
        fuse = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if libc.mount(b"systop-test", self.mount.encode(), b"fuse", 0, options):
            raise OSError(ctypes.get_errno(), "mount")
        self.control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.server = os.fork()
        if not self.server:
            try:
                self.control.close()
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                Server(fuse, other, self.programs).run()
            finally:
                os._exit(0)
        os.close(fuse)
        other.close()
        return self

    def stop(self, what):
        """FLUSH, OPEN, READ or all are not answered from now on; "none": all are answered, including the stored
        ones."""
        self.control.send(what.encode())
        while True:
            text = self.control.recv(64).decode()
            if text == "done":
                break
            self.note(text)

    def forget(self, name):
        """Drops the part of a program that running it does not load, its symbols, so that it is read again."""
        data = self.programs[name]
        at, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
        heads = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
        end = max(offset + filesz for kind, _, offset, _, _, filesz in heads if kind == 1)  # PT_LOAD
        fd = os.open(os.path.join(self.mount, name), os.O_RDONLY)
        os.posix_fadvise(fd, (end + 4095) & ~4095, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)

    def note(self, text):
        opcode, pid = text.split()
        self.kept.append((int(opcode), int(pid)))

    def held(self, seconds):
        """Waits until a process is blocked; returns its pid."""
        seen = len(self.kept)
        end = time.monotonic() + seconds
        while len(self.kept) == seen:
            left = end - time.monotonic()
            assert left > 0, "nobody waits for the file system"
            if select.select([self.control], [], [], left)[0]:
                self.note(self.control.recv(64).decode())
        return self.kept[-1][1]

    def __exit__(self, *exc):
        try:
            self.stop("none")
        except OSError:
            pass
        subprocess.run(["umount", "-l", self.mount], check=False)
        self.control.close()
        os.waitpid(self.server, 0)
        os.rmdir(self.mount)
