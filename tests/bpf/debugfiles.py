# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug information files: in folders of --symbol-dir, in debuginfod's caches, and those that appear while systop runs."""

import errno
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "tui"))
from fuse import Fuse  # noqa: E402
from harness import GUEST, SYSTOP, Load, begin, load_path  # noqa: E402
from tmux import Terminal  # noqa: E402

SECONDS = "60"
USER, OTHER = 4321, 4323
os.environ["LOAD_PERCENT"] = "10"  # their functions have to have names
INTERVAL = 0.5
LATE = 2 + INTERVAL + (5 if GUEST else 0.5)  # longest time from the arrival of a file to the line with its names
LATE_PAUSED = LATE + 4
FUNCTIONS = ("alpha", "beta", "gamma_")


class Stripped:
    """burn without symbols and with a build-id of its own, and its debug information, in a folder that all may read."""

    serial = 0

    def __init__(self, build_id=True):
        self.build_id_kept = build_id

    def __enter__(self):
        Stripped.serial += 1
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)
        self.path, self.debug = f"{self.folder}/burn", f"{self.folder}/made/burn.debug"
        os.mkdir(f"{self.folder}/made")
        self.id = f"{os.getpid():08x}{Stripped.serial:08x}{time.time_ns():024x}"
        note = f"{self.folder}/note"
        with open(note, "wb") as f:
            f.write(bytes.fromhex("04000000" "14000000" "03000000") + b"GNU\0" + bytes.fromhex(self.id))
        change = [f"--update-section=.note.gnu.build-id={note}"] if self.build_id_kept else ["--remove-section=.note.gnu.build-id"]
        subprocess.run(["objcopy", *change, load_path("burn"), self.path], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", self.path, self.debug], stderr=subprocess.DEVNULL, check=True)
        subprocess.run(["strip", "--strip-all", self.path], check=True)
        if not self.build_id_kept:
            subprocess.run(["objcopy", f"--add-gnu-debuglink={self.debug}", self.path], check=True)
        return self

    def __exit__(self, *exc):
        shutil.rmtree(self.folder)

    def put(self, folder, layout):
        """Puts the debug information into a folder, complete from the first moment on; its path."""
        place = os.path.join(folder, layout.format(xx=self.id[:2], yy=self.id[2:], id=self.id))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy(self.debug, f"{place}.new")
        os.rename(f"{place}.new", place)
        return place


def environment(**changes):
    """Without sudo and with no cache of debuginfod, except for @changes."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("SUDO_") and k not in ("DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME")}
    return {**env, "HOME": "/nonexistent", **changes}


def share_named(lines):
    """The share of samples that have a name of burn."""
    every = sum(int(line.rpartition(" ")[2]) for line in lines)
    named = sum(int(line.rpartition(" ")[2]) for line in lines if any(f";{f}" in line for f in FUNCTIONS))
    assert every, "no samples"
    return named / every


def sampled(burn, *options, env=None, command=None):
    with Load(*(command or [burn.path]), "cpu", SECONDS) as load:
        load.truth()
        out = subprocess.run([SYSTOP, "--folded=cpu", "-n", "1", "-d", "1", "-F", "499", "-p", str(load.pid), *options],
                             capture_output=True, text=True, check=True, env=env or environment()).stdout
    return share_named(out.splitlines())


def place(layout):
    """A folder of --symbol-dir, after one that is empty."""
    with Stripped(build_id=layout != "burn.debug") as burn, tempfile.TemporaryDirectory() as folder:
        burn.put(folder, layout)
        named = sampled(burn, "--symbol-dir", burn.folder, "--symbol-dir", folder)
    assert named > 0.9, f"{named} of the samples have a name"


def invented():
    """A container names its functions as it likes, but not those whose debug information is in a folder of --symbol-dir."""
    with Stripped() as burn, tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as inside:
        burn.put(folder, ".build-id/{xx}/{yy}.debug")
        made = burn.put(inside, ".build-id/{xx}/{yy}.debug")
        subprocess.run(["objcopy", *(f"--redefine-sym={f}=not_{f}" for f in FUNCTIONS), made], check=True)
        command = ["unshare", "--mount", "sh", "-c", f'mount --bind {inside} /usr/lib/debug && exec "$@"', "sh", burn.path]
        named = sampled(burn, "--symbol-dir", folder, command=command)
    assert named > 0.9, f"{named} of the samples have a name"


def cache(variable, below, **more):
    """A cache of debuginfod's clients, in the folder that an environment variable names."""
    with Stripped() as burn, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        owner = int(more.get("SUDO_UID", 0))
        os.chown(folder, owner, owner)
        path = burn.put(os.path.join(folder, below), "{id}/debuginfo")
        os.chown(path, owner, owner)
        named = sampled(burn, env=environment(**{variable: folder, **more}))
    assert named > 0.9, f"{named} of the samples have a name"


def cache_of_root():
    """Under sudo: root's cache is searched beside the user's."""
    home = pwd.getpwuid(0).pw_dir
    with Stripped() as burn:
        path = burn.put(os.path.join(home, ".cache/debuginfod_client"), "{id}/debuginfo")
        try:
            named = sampled(burn, env=environment(SUDO_UID=str(USER), SUDO_GID=str(USER), SUDO_USER="somebody"))
        finally:
            shutil.rmtree(os.path.dirname(path))
    assert named > 0.9, f"{named} of the samples have a name"


def refused(how):
    """A file in the right place that is not to be trusted is not used. If it is another build's, the next folder is searched."""
    with Stripped() as burn, tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as right:
        path = burn.put(folder, ".build-id/{xx}/{yy}.debug")
        opened = []
        done = threading.Event()

        def look():
            while not done.wait(0.0005):
                try:
                    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                    opened.append(path)
                except OSError as e:
                    assert e.errno == errno.ENXIO, e

        watch = threading.Thread(target=look) if how == "fifo" else None
        if how == "owner":
            os.chown(path, OTHER, OTHER)
        elif how == "out":
            os.rename(path, f"{burn.folder}/elsewhere")
            os.symlink(f"{burn.folder}/elsewhere", path)
        elif how == "id":
            with Stripped() as another:
                shutil.copy(another.debug, path)
        else:
            os.unlink(path)
            if how == "fifo":
                os.mkfifo(path)
                watch.start()
            elif how == "device":
                os.mknod(path, 0o644 | 0o020000, os.makedev(1, 3))
            elif how == "empty":
                open(path, "wb").close()
        try:
            alone = sampled(burn, "--symbol-dir", folder)
            burn.put(right, "{id}/debuginfo")
            both = sampled(burn, "--symbol-dir", folder, "--symbol-dir", right) if how == "id" else 1
        finally:
            done.set()
            if watch:
                watch.join()
    assert not alone, f"{how}: {alone} of the samples have a name"
    assert both > 0.9, f"{how}: {both} of the samples have a name from the next folder"
    assert not opened, "a FIFO was opened"


def arrives(layout, *wrong):
    """A debug file that appears while systop runs soon gives names to frames that had none. @wrong: another file is in its place
    first."""
    with Stripped(build_id=layout != "burn.debug") as burn, tempfile.TemporaryDirectory() as folder:
        if wrong:
            with Stripped() as another:
                shutil.copy(another.debug, burn.put(folder, layout))
        with Load(burn.path, "cpu", SECONDS) as load, subprocess.Popen(
                [SYSTOP, "--folded=cpu", "-n", "30", "-d", str(INTERVAL), "-F", "499", "-p", str(load.pid), "--symbol-dir", folder],
                stdout=subprocess.PIPE, text=True, env=environment()) as proc:
            arrived = took = None
            first = time.monotonic()
            try:
                for line in proc.stdout:
                    named = any(f";{f}" in line for f in FUNCTIONS)
                    now = time.monotonic()
                    assert arrived or not named, line
                    if named:
                        took = now - arrived
                        break
                    if not arrived and now - first > 2.2:  # the first searches are over
                        burn.put(folder, layout)
                        arrived = time.monotonic()
            finally:
                proc.kill()
    assert took and took < LATE, f"names after {took} s"
    return f"names after {took:.2f} s"


def stops_answering(burn, fuse, proc):
    """The folder no longer answers a systop that has looked there: a program that begins later has its names."""
    try:
        assert any(line.startswith("burn;") and ";burn`fn_" in line for line in proc.stdout), "no frame without a name"
        fuse.stop("all")
        fuse.held(10)
        shutil.copy(load_path("burn"), f"{burn.folder}/later")
        with Load(f"{burn.folder}/later", "cpu", SECONDS):
            assert any(line.startswith("later;") and ";alpha" in line for line in proc.stdout), "another program has no names"
    finally:
        fuse.stop("none")
        proc.kill()


def folder_that_hangs():
    """A folder that stops answering costs only the names of its own files: other files on the program's file system have names."""
    with Stripped() as burn, Fuse() as fuse, Load(burn.path, "cpu", SECONDS) as load, subprocess.Popen(
            [SYSTOP, "--folded=cpu", "-n", "40", "-d", str(INTERVAL), "-F", "499", "--symbol-dir", fuse.mount],
            stdout=subprocess.PIPE, text=True, env=environment()) as proc:
        load.truth()
        stops_answering(burn, fuse, proc)


def file_that_hangs():
    """A debug file in a folder that cannot be read to its end costs its own names: programs on the program's file system have
    theirs, and its functions are still told apart."""
    with Stripped(build_id=False) as burn, Fuse(burn.debug) as fuse, Load(burn.path, "cpu", SECONDS) as load:
        load.truth()
        fuse.stop("READ")
        with subprocess.Popen([SYSTOP, "--folded=cpu", "-n", "60", "-d", str(INTERVAL), "-F", "499", "--symbol-dir", fuse.mount],
                              stdout=subprocess.PIPE, text=True, env=environment()) as proc:
            try:
                fuse.held(10)
                time.sleep(4)  # systop waits 3 s for it
                shutil.copy(load_path("burn"), f"{burn.folder}/later")
                with Load(f"{burn.folder}/later", "cpu", SECONDS):
                    assert any(line.startswith("later;") and ";alpha" in line for line in proc.stdout), "another program has no names"
                assert any(line.startswith("burn;") and ";burn`fn_" in line for line in proc.stdout), "it has no functions"
            finally:
                fuse.stop("none")
                proc.kill()


def system_folder_that_hangs(whose):
    """As above, with /usr/lib/debug: the host's, or one that a process has mounted in a namespace of its own."""
    with Stripped() as burn, Fuse() as fuse:
        mounted = ["unshare", "--mount", "sh", "-c", f'mount --bind {fuse.mount} /usr/lib/debug && exec "$@"', "sh"]
        systop = [SYSTOP, "--folded=cpu", "-n", "40", "-d", str(INTERVAL), "-F", "499"]
        load = [burn.path, "cpu", SECONDS]
        with Load(*(mounted if whose == "process" else []), *load) as running, subprocess.Popen(
                [*(mounted if whose == "host" else []), *systop], stdout=subprocess.PIPE, text=True, env=environment()) as proc:
            running.truth()
            stops_answering(burn, fuse, proc)


def select(t, pid, function):
    """Selects a function in the flamegraph of a process."""
    t.start("-p", str(pid), "-F", "499")
    t.wait(rf"^>? +{pid} ")
    t.keys("f")
    t.wait(rf"\[{function}")
    t.type(f"/{function}")
    t.keys("Enter", "Escape", "Enter")


def on_the_screen():
    """The flamegraph has the command for a function without a name; what it brings to the cache is shown at once."""
    with Stripped() as burn, tempfile.TemporaryDirectory() as folder, Load(burn.path, "cpu", SECONDS) as load, \
            Terminal(120, 30, environment(DEBUGINFOD_CACHE_PATH=folder)) as t:
        select(t, load.pid, "burn`fn_")
        t.wait(rf"^get name debuginfod-find debuginfo {burn.id}$")
        time.sleep(2.2)
        burn.put(folder, "{id}/debuginfo")
        arrived = time.monotonic()
        t.wait(r"\[(alpha|beta|gamma_) +\]")  # the one that was selected
        took = time.monotonic() - arrived
        t.keys("r")
        t.wait(r"\[alpha +\]")
        t.type("/alpha")
        t.keys("Enter")
        t.wait(r"^alpha +total")
        t.keys("Escape")
        t.wait(r"^alpha +total")
        t.keys("Enter")
        t.wait(r"^source +burn\.c:\d+")
        assert "get name" not in t.screen(), t.screen()
    assert took < LATE + 1, f"names after {took} s"
    return f"names after {took:.2f} s"


def while_paused():
    """A paused flamegraph asks for no names; they are looked for regardless."""
    with Stripped() as burn, tempfile.TemporaryDirectory() as folder, Load(burn.path, "cpu", SECONDS) as load, \
            Terminal(120, 30, environment(DEBUGINFOD_CACHE_PATH=folder)) as t:
        select(t, load.pid, "burn`fn_")
        t.wait(rf"^get name debuginfod-find debuginfo {burn.id}$")
        t.keys("Space")
        t.wait("PAUSED")
        time.sleep(2.2)  # what was asked for before is looked for until then
        burn.put(folder, "{id}/debuginfo")
        arrived = time.monotonic()
        t.wait(r"\[(alpha|beta|gamma_) +\]")
        took = time.monotonic() - arrived
    assert took < LATE_PAUSED + 1, f"names after {took} s"
    return f"names after {took:.2f} s"


def package():
    """The flamegraph names the package with the debug information of an installed program, and none for a copy of it."""
    for copied in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            shell = shutil.copy("/bin/bash", folder) if copied else "/bin/bash"
            with subprocess.Popen([shell, "-c", "while :; do x=$((x * 3 + 1)); done"]) as load, Terminal(120, 44) as t:
                try:
                    select(t, load.pid, "bash`fn_")
                    t.wait(r"^get name debuginfod-find debuginfo [0-9a-f]{40}$")
                    if copied:
                        time.sleep(2)
                        assert "apt install" not in t.screen(), t.screen()
                    else:
                        t.wait("^or +apt install bash-dbgsym$")
                finally:
                    load.kill()


def bad_folders():
    """A --symbol-dir that is not a folder is reported before anything starts."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/file"
        open(path, "wb").close()
        for given, said in ((path, "Not a directory"), (f"{folder}/none", "No such file or directory")):
            for more in (["-b", "-n", "1"], []):
                done = subprocess.run([SYSTOP, "--symbol-dir", folder, "--symbol-dir", given, *more], capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL, check=False)
                assert done.returncode == 2 and not done.stdout, done
                for part in (f'systop: cannot use --symbol-dir "{given}": {said}', "why: ", "fix: ", "ls -ld"):
                    assert part in done.stderr, done.stderr
        done = subprocess.run([SYSTOP, "-b", "-n", "1", *(["--symbol-dir", folder] * 9)], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "at most 8" in done.stderr, done
        os.chmod(folder, 0o700)
        sudo = environment(SUDO_UID=str(USER), SUDO_GID=str(USER), SUDO_USER="somebody")
        done = subprocess.run([SYSTOP, "-b", "-n", "1", "--symbol-dir", folder], capture_output=True, text=True, check=False, env=sudo)
        assert done.returncode == 2 and "Permission denied" in done.stderr, f"root's folder for the user of sudo: {done}"


def main():
    tap = begin()
    sudo = {"SUDO_UID": str(USER), "SUDO_GID": str(USER), "SUDO_USER": "somebody"}
    tap.together([
        ("DIR/.build-id/xx/yyyy.debug", place, ".build-id/{xx}/{yy}.debug"),
        ("DIR/xx/yyyy.debug", place, "{xx}/{yy}.debug"),
        ("DIR/BUILDID/debuginfo", place, "{id}/debuginfo"),
        ("DIR/DEBUGLINKNAME", place, "burn.debug"),
        ("$DEBUGINFOD_CACHE_PATH", lambda: cache("DEBUGINFOD_CACHE_PATH", "")),
        ("$XDG_CACHE_HOME", lambda: cache("XDG_CACHE_HOME", "debuginfod_client")),
        ("~/.cache of the user of sudo", lambda: cache("HOME", ".cache/debuginfod_client", **sudo)),
        ("~/.cache of root", cache_of_root),
        ("a debug file in a folder, and one in a container", invented),
        ("a debug file of another user", refused, "owner"),
        ("a FIFO", refused, "fifo"),
        ("a device", refused, "device"),
        ("an empty file, as debuginfod leaves it", refused, "empty"),
        ("a link that leads out of the folder", refused, "out"),
        ("a debug file of another build", refused, "id"),
        ("a debug file arrives", arrives, "{id}/debuginfo"),
        ("a debug file arrives by its name", arrives, "burn.debug"),
        ("a debug file replaces one of another build", arrives, ".build-id/{xx}/{yy}.debug", "wrong"),
        ("a folder that hangs", folder_that_hangs),
        ("a debug file that hangs", file_that_hangs),
        ("/usr/lib/debug that hangs", system_folder_that_hangs, "host"),
        ("a debug file arrives, on the screen", on_the_screen),
        ("a debug file arrives while the flamegraph is paused", while_paused),
        ("folders that are none", bad_folders),
    ], 2)
    # It runs alone: for this systop, that of the case above would be a process whose folder hangs, and after a folder did not
    # answer, systop looks in no such folder for ten seconds.
    tap.case("/usr/lib/debug of a process that hangs", system_folder_that_hangs, "process")
    if shutil.which("dpkg"):
        tap.case("the package with debug information", package)
    else:
        tap.skip("the package with debug information", "no dpkg")
    tap.done()


main()
