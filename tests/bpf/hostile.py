# SPDX-License-Identifier: GPL-2.0-or-later
"""Files and names of hostile processes lead to devices and FIFOs, whose mere opening has effects: none of them is
opened, while honest files are."""

import contextlib
import ctypes
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, SYSTOP, begin, descendants, load_path, root_of, step_back  # noqa: E402

SECONDS = "300"
SLOW = 3 if GUEST else 1
FAN_CLOEXEC, FAN_REPORT_FID, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD = 1, 0x200, 1, 0x20, -100
KINDS = ("FIFO", "device")
os.environ["LOAD_PERCENT"] = "10"  # there are 18 loads


class Watch:
    """The files that systop's processes open: by fanotify, which reports the process. Another systop may run, too."""

    def __init__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.groups = {}  # fd -> name
        self.opened = {}  # name -> pids
        self.systop = None
        self.family = set()

    def add(self, name, path):
        fd = self.libc.fanotify_init(FAN_CLOEXEC | FAN_REPORT_FID, os.O_RDONLY)
        if fd < 0 or self.libc.fanotify_mark(fd, FAN_MARK_ADD, ctypes.c_uint64(FAN_OPEN), AT_FDCWD, path.encode()):
            raise OSError(ctypes.get_errno(), f"fanotify: {path}")
        self.groups[fd] = name

    def read(self, seconds):
        ready = select.select(list(self.groups), [], [], seconds)[0]
        self.family |= set(descendants(self.systop))
        for fd in ready:
            events = os.read(fd, 65536)
            while events:
                size, _, _, _, _, _, pid = struct.unpack_from("<IBBHQii", events)
                if pid in self.family:
                    self.opened.setdefault(self.groups[fd], set()).add(pid)
                events = events[size:]

    def close(self):
        for fd in self.groups:
            os.close(fd)


class Scene:
    """All hostile processes, and two honest ones."""

    def __init__(self, stack, watch):
        self.stack, self.watch = stack, watch
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        # A mount of its own, on which device nodes work.
        self.mount(self.folder)
        self.nr = 0

    def mount(self, path):
        os.makedirs(path, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", path], check=True)
        self.stack.callback(subprocess.run, ["umount", "-l", path], check=True)

    def new_folder(self):
        self.nr += 1
        path = os.path.join(self.folder, str(self.nr))
        os.mkdir(path)
        return path

    def node(self, kind, path):
        """Creates a FIFO or device there, and watches it."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if kind == "FIFO":
            os.mkfifo(path)
        else:
            os.mknod(path, 0o020666, os.makedev(1, 3))

    def run(self, command):
        """Starts a load; returns its process."""
        load = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                start_new_session=True)
        step_back(load.pid)
        self.stack.callback(self.end, load)
        line = load.stdout.readline()
        assert line, f"{command} printed nothing"
        return json.loads(line)["tid"]

    @staticmethod
    def end(load):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(load.pid, signal.SIGKILL)
        load.wait()
        load.stdout.close()

    def program(self, path, link=None):
        """Puts burn there without symbols, with the name of a file of debug information or with a build-id."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if link:
            debug = os.path.join(self.new_folder(), link)
            subprocess.run(["objcopy", "--only-keep-debug", load_path("burn"), debug], check=True)
            subprocess.run(["objcopy", "--strip-all", "--remove-section=.note.gnu.build-id",
                            f"--add-gnu-debuglink={debug}", load_path("burn"), path], check=True)
            return debug
        subprocess.run(["objcopy", "--strip-all", load_path("burn"), path], check=True)
        return None

    def container(self):
        """The root of a container, on a mount of its own."""
        root = self.new_folder()
        self.mount(root)
        root_of(root, load_path("burn"))
        return root

    def run_inside(self, root, program):
        self.run(["unshare", "--mount", f"--root={root}", program, "cpu", SECONDS])

    def run_here(self, program):
        self.run([program, "cpu", SECONDS])

    # The places, each with a FIFO or a device.

    def perf_map(self, kind):
        make = "mkfifo $m" if kind == "FIFO" else "mknod $m c 1 3"
        pid = self.run(["sh", "-c", f"m=/tmp/perf-$$.map; {make}; exec {load_path('jit')} {SECONDS} -"])
        self.stack.callback(os.unlink, f"/tmp/perf-{pid}.map")
        return f"/tmp/perf-{pid}.map"

    def mounted_perf_map(self, kind):
        """A user may mount a foreign file over one of their own."""
        node = os.path.join(self.new_folder(), "node")
        self.node(kind, node)
        script = f"m=/tmp/perf-$$.map; touch $m; mount --bind {node} $m; exec {load_path('jit')} {SECONDS} -"
        pid = self.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script])
        self.stack.callback(os.unlink, f"/tmp/perf-{pid}.map")
        return node

    def beside(self, kind):
        folder = self.new_folder()
        self.program(f"{folder}/burn", "link")
        self.node(kind, f"{folder}/link")
        self.run_here(f"{folder}/burn")
        return f"{folder}/link"

    def below(self, kind):
        folder = self.new_folder()
        self.program(f"{folder}/burn", "link")
        self.node(kind, f"{folder}/.debug/link")
        self.run_here(f"{folder}/burn")
        return f"{folder}/.debug/link"

    def systems(self, kind):
        root = self.container()
        self.program(f"{root}/opt/burn", "link")
        self.node(kind, f"{root}/usr/lib/debug/opt/link")
        self.run_inside(root, "/opt/burn")
        return f"{root}/usr/lib/debug/opt/link"

    def by_build_id(self, kind):
        root = self.container()
        self.program(f"{root}/burn")
        notes = subprocess.run(["readelf", "-n", f"{root}/burn"], capture_output=True, text=True, check=True).stdout
        build_id = re.search(r"Build ID: (\w+)", notes)[1]
        path = f"{root}/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
        self.node(kind, path)
        self.run_inside(root, "/burn")
        return path

    def of_the_host(self, kind):
        """The file beside the program in the container differs from the one on the host."""
        folder, root = self.new_folder(), self.container()
        self.program(f"{root}{folder}/burn", "link")
        self.node(kind, f"{folder}/link")
        self.run_inside(root, f"{folder}/burn")
        return f"{folder}/link"

    def by_path(self, kind):
        """The mapped file is never the reported one, as its time changes; its path leads to something else on the host."""
        folder, root = self.new_folder(), self.container()
        self.program(f"{root}{folder}/burn", "link")
        self.node(kind, f"{folder}/burn")
        self.run_inside(root, f"{folder}/burn")
        touch = ("import os, sys, time\nn = 1\nprint('{\"tid\": 0}', flush=True)\n"
                 "while True:\n    os.utime(sys.argv[1], (n, n))\n    n += 1\n    time.sleep(0.001)\n")
        self.run([sys.executable, "-c", touch, f"{root}{folder}/burn"])
        return f"{folder}/burn"

    # What must keep working.

    def honest(self):
        folder = self.new_folder()
        debug = self.program(f"{folder}/burn", "link")
        shutil.copy(debug, f"{folder}/link")
        self.watch.add("honest debug information", f"{folder}/link")
        self.run_here(f"{folder}/burn")
        # The map is watched before the process has anything to name, as it is read once.
        jit = subprocess.Popen(["sh", "-c", f"echo > /tmp/perf-$$.map; echo; read go; exec {load_path('jit')} {SECONDS}"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.stack.callback(self.end, jit)
        jit.stdout.readline()
        self.stack.callback(os.unlink, f"/tmp/perf-{jit.pid}.map")
        self.watch.add("an honest perf map", f"/tmp/perf-{jit.pid}.map")
        jit.stdin.write("\n")
        jit.stdin.close()


PLACES = {
    "a perf map": Scene.perf_map,
    "mounted upon a perf map": Scene.mounted_perf_map,
    "debug information beside the file": Scene.beside,
    "debug information in .debug": Scene.below,
    "debug information in /usr/lib/debug": Scene.systems,
    "debug information by build-id": Scene.by_build_id,
    "debug information by a container's path": Scene.of_the_host,
    "a file by its path": Scene.by_path,
}
HONEST = ("honest debug information", "an honest perf map")


def watched():
    """{place: pids that opened it}, while systop requests the names of all."""
    watch = Watch()
    with contextlib.ExitStack() as stack:
        scene = Scene(stack, watch)
        for place, make in PLACES.items():
            for kind in KINDS:
                path = make(scene, kind)
                watch.add(f"{place}: {kind}", path)
        systop = subprocess.Popen([SYSTOP, "--json", "-d", "0.5", "-F", "499"], stdout=subprocess.DEVNULL)
        watch.systop = systop.pid
        try:
            # The honest ones are last: when their files are opened, the others have had their turn, and some seconds
            # more.
            scene_end = time.monotonic() + 8 * SLOW
            while time.monotonic() < scene_end:
                watch.read(0.5)
            scene.honest()
            end = time.monotonic() + 30 * SLOW
            while not all(name in watch.opened for name in HONEST) and time.monotonic() < end:
                watch.read(0.5)
            watch.read(0)
            assert systop.poll() is None, f"systop ended: {systop.returncode}"
        finally:
            systop.terminate()
            systop.wait()
    watch.close()
    return watch.opened


def main():
    tap = begin()
    opened = watched()
    for place in PLACES:
        for kind in KINDS:
            name = f"{place}: {kind}"
            tap.ok(name not in opened, f"{name} is not opened", f"opened by {opened.get(name)}")
    for name in HONEST:
        tap.ok(name in opened, f"{name} is opened", f"opened were {list(opened)}")
    tap.done()


main()
