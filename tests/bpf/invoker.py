# SPDX-License-Identifier: GPL-2.0-or-later
"""Files are read and written as the invoker, however systop got its rights."""

import contextlib
import os
import pwd
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tui"))
from harness import SYSTOP, Load, begin  # noqa: E402
from manager import Manager  # noqa: E402
from tmux import Terminal  # noqa: E402

SYSTOP = os.path.abspath(SYSTOP)
USER = pwd.getpwnam("daemon")
CAPS = "+bpf,+perfmon,+dac_override,+dac_read_search"
SECRET = "hunter2secret"
SUDO = {"SUDO_UID": str(USER.pw_uid), "SUDO_GID": str(USER.pw_gid), "SUDO_USER": USER.pw_name}
AMBIENT = ["setpriv", f"--reuid={USER.pw_uid}", f"--regid={USER.pw_gid}", "--clear-groups", f"--inh-caps={CAPS}",
           f"--ambient-caps={CAPS}"]
# Like a start by a service manager, but faster: no home, no terminal, and no variable that names the user.
UNIT = ["env", "-i", "PATH=/usr/sbin:/usr/bin", "LANG=C.UTF-8", "INVOCATION_ID=0123456789abcdef0123456789abcdef"]


def run(*args, env=None, command=(SYSTOP,), cwd=None):
    return subprocess.run([*command, *args], capture_output=True, text=True, check=False, timeout=60, cwd=cwd,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})


class Folder:
    """A folder of the user's, and one of root's that only root can read."""

    def __enter__(self):
        self.top = tempfile.mkdtemp()
        os.chmod(self.top, 0o755)
        self.mine, self.roots = f"{self.top}/user", f"{self.top}/root"
        os.mkdir(self.mine, 0o755)
        os.chown(self.mine, USER.pw_uid, USER.pw_gid)
        os.mkdir(self.roots, 0o700)
        return self

    def __exit__(self, *exc):
        shutil.rmtree(self.top)


def write(path, text, uid=0, mode=0o600):
    with open(path, "w") as f:
        f.write(text)
    os.chown(path, uid, uid)
    os.chmod(path, mode)


def saves(command, env, owner):
    """-w and --on: the file belongs to the invoker, and lands only where they could write it themselves."""
    with Folder() as f:
        where = f.mine if owner else f.roots
        done = run("-w", f"{where}/trace", "--duration", "0.2", command=command, env=env)
        assert done.returncode == 0, done
        st = os.stat(f"{where}/trace")
        assert (st.st_uid, stat.S_IMODE(st.st_mode)) == (owner, 0o600), (st.st_uid, oct(st.st_mode))
        done = run("--json", "-d", "0.3", "-n", "5", "--on", "cpu>=0", command=command, env=env, cwd=where)
        files = [name for name in os.listdir(where) if name.endswith("Z.pb")]
        assert len(files) == 1 and os.stat(f"{where}/{files[0]}").st_uid == owner, (files, done.stderr)
        if not owner:
            return
        done = run("-w", f"{f.roots}/trace", "--duration", "0.2", command=command, env=env)
        assert done.returncode == 1 and "Permission denied" in done.stderr, done
        os.symlink(f"{f.roots}/trace", f"{f.mine}/link")
        os.lchown(f"{f.mine}/link", owner, owner)
        done = run("-w", f"{f.mine}/link", "--duration", "0.2", command=command, env=env)
        assert done.returncode == 1 and not os.listdir(f.roots), (done, os.listdir(f.roots))
        done = run("--json", "-n", "1", "--on", "cpu>=0", command=command, env=env, cwd=f.top)
        assert done.returncode == 1 and "cannot save" in done.stderr and not done.stdout, done


def root_in_a_users_folder():
    """The helper that writes has no capabilities: found before anything is recorded."""
    with Folder() as f:
        os.mkfifo(f"{f.mine}/fifo", 0o600)
        os.chown(f"{f.mine}/fifo", USER.pw_uid, USER.pw_gid)
        for name, why in (("trace", "Permission denied\n  why: the helper that writes"), ("fifo", "it is another user's")):
            began = time.monotonic()
            done = run("-w", f"{f.mine}/{name}", "--duration", "5")
            took = time.monotonic() - began
            assert took < 5, f"refused after {took:.1f} s"
            assert done.returncode == 1 and why in done.stderr, done
        os.chmod(f.mine, 0o777)
        done = run("-w", f"{f.mine}/trace", "--duration", "0.2")
        assert done.returncode == 0 and os.stat(f"{f.mine}/trace").st_uid == 0, done


def on_without_a_folder():
    """--on: a folder in which no file can be created is found before anything is recorded. A save that fails later does not
    count for --on-limit."""
    with Folder() as f:
        done = run("--json", "-n", "1", "--on", "cpu>=0", cwd=f.mine)
        assert done.returncode == 1 and not done.stdout, done
        assert "cannot save systop-HOST-TIME.pb: Permission denied" in done.stderr, done
        with subprocess.Popen([SYSTOP, "--json", "-d", "0.2", "--window", "1", "--on-limit", "1",
                               "--on", f"ppid={os.getpid()} comm=md5sum"],
                              cwd=f.roots, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as systop:
            late = threading.Timer(20, systop.kill)
            late.start()
            systop.stdout.readline()
            os.chmod(f.roots, 0o500)
            with Load("md5sum", "/dev/zero"):
                said = [systop.stderr.readline()]
                while "cannot save" not in said[-1] and said[-1]:
                    said.append(systop.stderr.readline())
                os.chmod(f.roots, 0o700)
                while "saved systop-" not in said[-1] and said[-1]:
                    said.append(systop.stderr.readline())
            late.cancel()
            systop.terminate()
        assert said[-1] and any("Permission denied" in line for line in said), said


def by_a_group():
    """sudo: a folder that the invoker can write to as a member of a group."""
    with Folder() as f:
        write(f"{f.top}/group", f"devs:x:54321:{USER.pw_name}\n", mode=0o644)
        os.chown(f.roots, 0, 54321)
        os.chmod(f.roots, 0o2775)
        command = ["unshare", "-m", "sh", "-c", f'mount --bind {f.top}/group /etc/group && exec "$@"', "sh", SYSTOP]
        done = run("-w", f"{f.roots}/trace", "--duration", "0.2", command=command, env=SUDO)
        assert done.returncode == 0 and os.stat(f"{f.roots}/trace").st_uid == USER.pw_uid, done


def root_by_a_group():
    """A unit of root's with SupplementaryGroups: a folder that it can write to only as a member of the group."""
    with Folder() as f:
        os.chown(f.mine, USER.pw_uid, 54321)
        os.chmod(f.mine, 0o770)
        done = run("-w", f"{f.mine}/trace", "--duration", "0.2", command=["setpriv", "--groups=54321", SYSTOP])
        assert done.returncode == 0 and os.stat(f"{f.mine}/trace").st_uid == 0, done
        done = run("-w", f"{f.mine}/again", "--duration", "5")
        assert done.returncode == 1 and not os.path.exists(f"{f.mine}/again"), done


def reads(command, env, owner):
    """The config and themes: the invoker's, or root's that the invoker can read."""
    with Folder() as f:
        write(f"{f.mine}/rc", "[view]\nsort = d_ns\n", owner)
        write(f"{f.roots}/rc", "[view]\nsort = d_ns\n")
        for path, read in ((f"{f.mine}/rc", True), (f"{f.roots}/rc", not owner)):
            done = run("--print-config", command=command, env={**env, "SYSTOPRC": path})
            assert done.returncode == 0 and ("sort = d_ns" in done.stdout) == read, (path, done)
            assert (f"{path} cannot be read: Permission denied; defaults" in done.stderr) == (not read), (path, done)
        write(f"{f.roots}/theme", f"{SECRET} = red\n")
        done = run("--theme", f"{f.roots}/theme", "-V", command=command, env=env)
        assert done.returncode == 2 and SECRET not in done.stderr, done
        assert ("Permission denied" if owner else "line 1") in done.stderr, done.stderr


def instead_of_the_users():
    """The config of the host is read only if the user's file does not exist."""
    with Folder() as f:
        for name in ("passwd", "group"):
            shutil.copy(f"/etc/{name}", f.top)
        os.mkdir(f"{f.top}/systop")
        write(f"{f.top}/systop/systoprc", "[view]\nsort = d_ns\n", mode=0o644)
        command = ["unshare", "-m", "sh", "-c", f'mount --bind {f.top} /etc && exec "$@"', "sh", SYSTOP]
        for path, read in ((f"{f.mine}/rc", True), ("/dev/null/rc", True), (f"{f.roots}/rc", False)):
            done = run("--print-config", command=command, env={**SUDO, "SYSTOPRC": path})
            assert done.returncode == 0 and ("sort = d_ns" in done.stdout) == read, (path, done)


def writes_config(env, owner):
    """W: a file of the invoker's in a directory of theirs; not through any other user's directory or link."""
    with Folder() as f:
        home = f.mine if owner else f.roots
        with Terminal(100, 24, {**env, "XDG_CONFIG_HOME": f"{home}/new"}) as t:
            t.start()
            t.keys("M", "W")
            t.wait("config written", 30)
        st = os.stat(f"{home}/new/systop/systoprc")
        assert (st.st_uid, stat.S_IMODE(st.st_mode)) == (owner, 0o600), (st.st_uid, oct(st.st_mode))
        os.mkdir(f"{f.roots}/there")
        os.symlink(f"{f.roots}/there", f"{f.mine}/.config")
        os.lchown(f"{f.mine}/.config", USER.pw_uid, USER.pw_gid)
        with Terminal(100, 24, {**env, "XDG_CONFIG_HOME": "", "HOME": f.mine}) as t:
            t.start()
            t.keys("M", "W")
            t.wait("config NOT written", 30)
        assert not os.listdir(f"{f.roots}/there"), os.listdir(f"{f.roots}/there")


def in_units():
    """-w, --on, the config and W, in units of a real systemd: root's, and one with a user and ambient capabilities."""
    user = [f"--property=User={USER.pw_name}", "--property=AmbientCapabilities=" +
            " ".join("CAP_" + cap.strip("+").upper() for cap in CAPS.split(","))]
    with Manager() as manager:
        for properties, owner in (([], 0), (user, USER.pw_uid)):
            done = run(command=[*manager.command(*properties), "sh", "-c", "echo $INVOCATION_ID; id -u"])
            assert done.returncode == 0 and len(done.stdout.split()[0]) == 32, done
            assert done.stdout.split()[1] == str(owner), done
            saves([*manager.command(*properties), SYSTOP], {}, owner)
            with Folder() as f:
                write(f"{f.mine}/rc", "[view]\nsort = d_ns\n", owner)
                write(f"{f.roots}/rc", "[view]\nsort = d_ns\n")
                for path, read in ((f"{f.mine}/rc", True), (f"{f.roots}/rc", not owner)):
                    done = run("--print-config", command=[*manager.command(*properties, f"--setenv=SYSTOPRC={path}"), SYSTOP])
                    assert done.returncode == 0 and ("sort = d_ns" in done.stdout) == read, (path, done)
                home = f.mine if owner else f.roots
                command = manager.command(*properties, f"--setenv=XDG_CONFIG_HOME={home}/new", how="--pty")
                with Terminal(100, 24) as t:
                    t.run(shlex.join(["sh", "-c", 'exec "$@"', "unit", *command, SYSTOP]))
                    t.wait("1:Threads", 30)
                    t.keys("M", "W")
                    t.wait("config written", 30)
                    t.keys("q")
                st = os.stat(f"{home}/new/systop/systoprc")
                assert (st.st_uid, stat.S_IMODE(st.st_mode)) == (owner, 0o600), (st.st_uid, oct(st.st_mode))


def wrong_sudo():
    for uid in ("4294967295", "4294967296", "-1", "", "x", "1000 "):
        done = run("-V", env={**SUDO, "SUDO_UID": uid})
        assert done.returncode == 2 and "who called sudo" in done.stderr, (uid, done)
    done = run("-V", env={**SUDO, "SUDO_GID": "4294967295"})
    assert done.returncode == 2, done
    done = run("-V", command=[*AMBIENT, SYSTOP], env={"SUDO_UID": "x"})
    assert done.returncode == 0, done  # any user can set the variable


def set_uid():
    """A set-user-ID systop is refused before anything is read."""
    with Folder() as f:
        os.mkfifo(f"{f.top}/fifo")
        write(f"{f.roots}/secret", SECRET + " = red\n")
        copy = f"{f.top}/systop"
        shutil.copy(SYSTOP, copy)
        os.chmod(copy, 0o4755)
        user = ["setpriv", f"--reuid={USER.pw_uid}", f"--regid={USER.pw_gid}", "--clear-groups", copy]
        for args in (["--theme", f"{f.roots}/secret"], ["--theme", f"{f.top}/fifo"], ["--list-cgroups"], ["--version"],
                     ["--nosuch"]):
            done = run(*args, command=user, env={"SYSTOPRC": f"{f.roots}/secret"})
            assert done.returncode == 4 and "refusing to run setuid" in done.stderr and not done.stdout, (args, done)
            assert SECRET not in done.stderr, done.stderr


def no_files():
    """A FIFO or device is not used as theme or config, and systop does not wait for it."""
    with Folder() as f:
        os.mkfifo(f"{f.top}/fifo")
        for path in (f"{f.top}/fifo", "/dev/zero", f.mine):
            began = time.monotonic()
            done = run("--theme", path, "-V")
            assert done.returncode == 2 and "is not a file" in done.stderr, done
            done = run("--print-config", env={"SYSTOPRC": path})
            assert done.returncode == 0 and "sort = " in done.stdout, done
            assert (took := time.monotonic() - began) < 20, f"{took:.1f} s"


def file_capabilities():
    with Folder() as f:
        copy = f"{f.top}/systop"
        shutil.copy(SYSTOP, copy)
        caps = CAPS.replace("+", "cap_") + "+ep"
        subprocess.run(["setcap", caps, copy], check=True,
                       env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
        command = ["setpriv", f"--reuid={USER.pw_uid}", f"--regid={USER.pw_gid}", "--clear-groups", copy]
        reads(command, {}, USER.pw_uid)
        saves(command, {}, USER.pw_uid)


def main():
    tap = begin()
    for key in SUDO:
        os.environ.pop(key, None)
    tap.case("root: traces", saves, [SYSTOP], {}, 0)
    tap.case("root: a user's folder", root_in_a_users_folder)
    tap.case("root: --on without a folder", on_without_a_folder)
    tap.case("sudo: traces", saves, [SYSTOP], SUDO, USER.pw_uid)
    tap.case("sudo: a group's folder", by_a_group)
    tap.case("root: a group's folder", root_by_a_group)
    tap.case("ambient capabilities: traces", saves, [*AMBIENT, SYSTOP], {}, USER.pw_uid)
    tap.case("a unit of root's: traces", saves, [*UNIT, SYSTOP], {}, 0)
    tap.case("a unit with a user and ambient capabilities: traces", saves, [*AMBIENT, *UNIT, SYSTOP], {}, USER.pw_uid)
    tap.case("units of systemd: traces, config and W", in_units)
    tap.case("root: config and themes", reads, [SYSTOP], {}, 0)
    tap.case("sudo: config and themes", reads, [SYSTOP], SUDO, USER.pw_uid)
    tap.case("ambient capabilities: config and themes", reads, [*AMBIENT, SYSTOP], {}, USER.pw_uid)
    tap.case("sudo: the config of the host", instead_of_the_users)
    tap.case("file capabilities", file_capabilities)
    tap.case("root: W", writes_config, {}, 0)
    tap.case("sudo -E: W", writes_config, SUDO, USER.pw_uid)
    tap.case("sudo's variables make no sense", wrong_sudo)
    tap.case("set-uid", set_uid)
    tap.case("FIFOs and devices are not read", no_files)
    tap.done()


main()
