# SPDX-License-Identifier: GPL-2.0-or-later
"""Units, containers and pods: cgroups as systemd, runtimes and kubelet make them, with their files below a folder of this test,
which is the root of a special systop (tests/bpf/small.c)."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from fuse import Fuse  # noqa: E402
from harness import MS, Cgroup, Load, Systop, begin, cpu_controller, load_path  # noqa: E402
from manager import Manager  # noqa: E402

os.environ["LOAD_PERCENT"] = "10"  # the loads only have to exist
SMALL = os.environ.get("SYSTOP_SMALL_PROGRAM", os.path.join(os.path.dirname(load_path("")), "..", "bpf", "systop-small"))
UID = "0f3c1b9e-6d9b-4c63-8a3f-2f6b3f4f1a{:02x}"
CONTAINERD = "run/containerd/io.containerd.runtime.v2.task/k8s.io"
STORAGE = "var/lib/containers/storage/overlay-containers"
NOBODY = 65534


def new_id(number):
    return f"{number:08x}" + "c04b7e5d6c8f9012ab34cd56ef78901234567890abcdef0123456789"


class Host:
    """The files of a host, and cgroups, which a program stays in until the end."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="systop-owners-")
        self.root = self.folder.name
        self.top = Cgroup(f"systop-owners-{os.getpid()}", cpu_controller())
        self.loads = []
        os.environ["SYSTOP_OWNERS"] = self.root

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        del os.environ["SYSTOP_OWNERS"]
        for load in self.loads:
            load.end()
        self.top.remove()
        self.folder.cleanup()

    def file(self, path, content, mode=0o600):
        whole = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(whole), mode=0o755, exist_ok=True)
        with open(whole, "wb") as f:
            f.write(content if isinstance(content, bytes) else json.dumps(content).encode())
        os.chmod(whole, mode)
        return whole

    def cgroup(self, path, busy=False):
        """Makes a cgroup and those above it."""
        parts = path.split("/")
        for i in range(len(parts)):
            with contextlib.suppress(FileExistsError):
                self.top.child("/".join(parts[:i + 1]))
        if busy:
            self.loads.append(Load(load_path("spin"), "user", "600"))
            self.loads[-1].truth()
            self.top.put(os.path.join(self.top.path, path), self.loads[-1].pid)
            return self.loads[-1].pid
        return None

    def docker(self, number, name, **more):
        self.file(f"var/lib/docker/containers/{new_id(number)}/config.v2.json",
                  {"ID": new_id(number), "Name": f"/{name}", "Config": {"Image": "nginx:1.25", "Labels": {}}} | more)

    def scope(self):
        return ("-c", self.top.shown)


def pod_slice(number, quality="burstable"):
    return f"kubepods.slice/kubepods-{quality}.slice/kubepods-{quality}-pod{UID.format(number).replace('-', '_')}.slice"


def cri(prefix, name, number):
    """Annotations of a container of pod `number`, as containerd and CRI-O write them."""
    if prefix == "containerd":
        return {"annotations": {"io.kubernetes.cri.container-name": name, "io.kubernetes.cri.container-type": "container",
                                "io.kubernetes.cri.sandbox-name": f"pod-{number}",
                                "io.kubernetes.cri.sandbox-namespace": "shop"}}
    return {"annotations": {"io.kubernetes.container.name": name, "io.kubernetes.pod.name": f"pod-{number}",
                            "io.kubernetes.pod.namespace": "shop", "io.kubernetes.pod.uid": UID.format(number)}}


def belongs(systop, want, seconds=10):
    """Reads lines until the cgroups, by the end of their path, have these (container, pod, unit)."""
    end = time.monotonic() + seconds
    while True:
        there = {c["path"]: (c["container"], c["pod"], c["unit"]) for c in systop.line()["cgroups"]}
        found = {path: next((names for whole, names in there.items() if whole.endswith("/" + path)), "no such cgroup")
                 for path in want}
        if found == want:
            return
        assert time.monotonic() < end, {path: found[path] for path in want if found[path] != want[path]}


def names():
    """Each runtime with systemd and without: names of containers and pods, and units."""
    with Host() as host:
        host.docker(1, "web-1")
        host.docker(2, "web-2")
        host.file(f"{CONTAINERD}/{new_id(3)}/config.json", cri("containerd", "api", 3))
        host.file(f"run/containers/storage/overlay-containers/{new_id(4)}/userdata/config.json", cri("crio", "db", 4))
        host.file(f"{STORAGE}/{new_id(5)}/userdata/config.json", {"annotations": {"io.container.manager": "libpod"}})
        host.file(f"{STORAGE}/containers.json", [{"id": new_id(5), "names": ["cache"], "metadata": "{}"}])
        host.file(f"{STORAGE}/volatile-containers.json", [{"id": new_id(6), "names": ["job"]}])
        for number in (7, 12):
            os.makedirs(os.path.join(host.root, f"var/log/pods/kube-system_proxy-x{number}_{UID.format(number)}/proxy"))
        user = "user.slice/user-1000.slice/user@1000.service"
        host.file(f"run/containerd/io.containerd.runtime.v2.task/default/{new_id(8)}/config.json",
                  {"annotations": {"nerdctl/name": "tool"}})
        infra = f"{new_id(11)[:12]}-infra"
        host.file(f"{STORAGE}/{new_id(10)}/userdata/config.json", {"hostname": "shop", "annotations": {}})
        host.file("var/lib/containers/storage/vfs-containers/containers.json", [{"id": new_id(10), "names": [infra]}])
        wanted = {
            f"libpod_parent/{new_id(11)}": (None, "shop", None),
            f"libpod_parent/{new_id(11)}/libpod-{new_id(10)}": (infra, "shop", None),
            f"docker/{new_id(1)}": ("web-1", None, None),
            f"system.slice/docker-{new_id(2)}.scope": ("web-2", None, None),
            f"{pod_slice(3)}/cri-containerd-{new_id(3)}.scope": ("api", "shop/pod-3", None),
            pod_slice(3): (None, "shop/pod-3", None),
            f"kubepods/besteffort/pod{UID.format(4)}/{new_id(4)}": ("db", "shop/pod-4", None),
            f"machine.slice/libpod-{new_id(5)}.scope/container": ("cache", None, None),
            f"libpod_parent/libpod-{new_id(6)}": ("job", None, None),
            pod_slice(7): (None, "kube-system/proxy-x7", None),
            f"{pod_slice(7)}/cri-containerd-{new_id(7)}.scope": (new_id(7)[:12], "kube-system/proxy-x7", None),
            f"default/{new_id(8)}": ("tool", None, None),
            "lxc/box": ("box", None, None),
            "machine.slice/systemd-nspawn@lab.service": ("lab", None, "systemd-nspawn@lab.service"),
            "system.slice/systemd-fsck@dev-disk-by\\x2duuid-7C2A.service":
                (None, None, "systemd-fsck@dev-disk-by-uuid-7C2A.service"),
            f"{user}/app.slice/syncthing.service": (None, None, "syncthing.service"),
            "user.slice/user-1000.slice/session-3.scope": (None, None, "session-3.scope"),
            f"system.slice/docker-{new_id(2)}.scope/system.slice/cron.service": ("web-2", None, "cron.service"),
            f"docker/{new_id(1)}/kubelet{'/' + pod_slice(9)}": ("web-1", UID.format(9), None),
            # Users of containers made these cgroups, with ids of other containers.
            f"{user}/x/docker-{new_id(2)}.scope": (new_id(2)[:12], None, "user@1000.service"),
            f"{user}/{pod_slice(12)}": (None, UID.format(12), "user@1000.service"),
            f"docker/{new_id(1)}/docker-{new_id(2)}.scope": (new_id(2)[:12], None, None),
            f"docker/{new_id(1)}/{pod_slice(12)}": ("web-1", UID.format(12), None),
            f"lxc/box/docker/{new_id(2)}": (new_id(2)[:12], None, None),
        }
        for path in wanted:
            host.cgroup(path)
        with Systop("-d", "0.2", *host.scope(), program=SMALL) as systop:
            belongs(systop, wanted)


def later():
    """A container that is started later, and one whose file comes after its cgroup."""
    with Host() as host:
        host.docker(1, "web-1")
        host.cgroup(f"docker/{new_id(1)}")
        with Systop("-d", "0.2", *host.scope(), program=SMALL) as systop:
            belongs(systop, {f"docker/{new_id(1)}": ("web-1", None, None)})
            host.cgroup(f"docker/{new_id(2)}", busy=True)
            belongs(systop, {f"docker/{new_id(2)}": (new_id(2)[:12], None, None)})
            host.docker(2, "web-2")
            belongs(systop, {f"docker/{new_id(2)}": ("web-2", None, None)})


# Files that no runtime makes, by the number of their container: these containers have no name, and others keep theirs.
def hostile(host):
    path = f"var/lib/docker/containers/{{}}/config.v2.json"
    good = {"Name": "/evil"}
    os.chown(host.file(path.format(new_id(10)), good), NOBODY, NOBODY)
    host.file(path.format(new_id(11)), good, 0o602)
    host.file(path.format(new_id(12)), good, 0o620)
    os.makedirs(os.path.join(host.root, os.path.dirname(path.format(new_id(13)))))
    os.symlink(host.file("elsewhere", good), os.path.join(host.root, path.format(new_id(13))))
    os.makedirs(os.path.join(host.root, os.path.dirname(path.format(new_id(14)))))
    os.mkfifo(os.path.join(host.root, path.format(new_id(14))), 0o600)
    with open(host.file(path.format(new_id(15)), b'{"Name":"/evil"'), "r+b") as f:
        f.truncate(100 << 20)
    host.file(path.format(new_id(16)), b"[" * 1000000)
    host.file(path.format(new_id(17)), {"Name": {"a": []}, "Config": 7, "ID": None})
    host.file(path.format(new_id(18)), b"[" + b"[]," * ((4 << 20) // 3 - 2) + b"7]")
    host.file(path.format(new_id(19)), b'{"Name":"/' + b"\\u0041" * 600000 + b'"}')
    os.makedirs(os.path.join(host.root, path.format(new_id(20))))
    host.file(path.format(new_id(21)), b"\0" * 5000)
    host.file(path.format(new_id(22)), b"{" + b",".join(b'"k%d":{}' % i for i in range(300000)) + b"}")
    os.symlink(host.root + "/elsewhere.d", os.path.join(host.root, "var/lib/docker/containers", new_id(23)))
    host.file("elsewhere.d/config.v2.json", good)
    wanted = {f"docker/{new_id(i)}": (new_id(i)[:12], None, None) for i in range(10, 24)}
    wanted[f"docker/{new_id(19)}"] = ("A" * 255, None, None)
    return wanted


def bad_files():
    with Host() as host:
        host.docker(1, "good")
        wanted = hostile(host) | {f"docker/{new_id(1)}": ("good", None, None)}
        host.docker(30, "x")
        host.file(f"var/lib/docker/containers/{new_id(30)}/config.v2.json", b'{"Name":"/\xff\x1b[2J\xe2\x80\xae"}')
        wanted[f"docker/{new_id(30)}"] = ("\\xff\\x1b[2J\\xe2\\x80\\xae", None, None)
        for path in wanted:
            host.cgroup(path)
        with Systop("-d", "0.2", *host.scope(), program=SMALL) as systop:
            belongs(systop, wanted, 30)
            time.sleep(1)
            line = systop.line()
            assert not any("evil" in (c["container"] or "") for c in line["cgroups"]), line["cgroups"]


def bad_folders():
    """Folders that others can write to are not looked into."""
    with Host() as host:
        host.docker(1, "evil")
        host.cgroup(f"docker/{new_id(1)}")
        os.makedirs(os.path.join(host.root, f"var/log/pods/shop_evil_{UID.format(7)}"))
        host.cgroup(pod_slice(7))
        for folder, mode in (("var/lib/docker/containers", 0o777), ("var/log/pods", 0o775)):
            os.chmod(os.path.join(host.root, folder), mode)
        with Systop("-d", "0.2", *host.scope(), program=SMALL) as systop:
            for _ in range(8):
                belongs(systop, {f"docker/{new_id(1)}": (new_id(1)[:12], None, None),
                                 pod_slice(7): (None, UID.format(7), None)})


def stuck():
    """A folder whose file system does not answer costs the names that are only there, and no time of systop's."""
    with Host() as host, Fuse() as fuse:
        host.docker(1, "web-1")
        host.file(f"run/containers/storage/overlay-containers/{new_id(4)}/userdata/config.json", cri("crio", "db", 4))
        folder = os.path.join(host.root, os.path.dirname(CONTAINERD))
        os.makedirs(folder)
        subprocess.run(["mount", "--bind", fuse.mount, folder], check=True)
        try:
            fuse.stop("all")
            wanted = {f"docker/{new_id(1)}": ("web-1", None, None), f"docker/{new_id(2)}": (new_id(2)[:12], None, None),
                      f"kubepods/besteffort/pod{UID.format(4)}/{new_id(4)}": ("db", "shop/pod-4", None)}
            for path in wanted:
                host.cgroup(path)
            with Systop("-d", "0.2", *host.scope(), program=SMALL) as systop:
                belongs(systop, wanted, 20)
                lines = [systop.line() for _ in range(10)]
            longest = max(line["self"]["turn_work_ns"] for line in lines)
            assert fuse.held(10) and longest < 100 * MS, longest
        finally:
            fuse.stop("none")
            subprocess.run(["umount", "-l", folder], check=False)


def scopes():
    """-c with any of its usual names shows only that cgroup."""
    with Host() as host:
        host.docker(1, "web-1")
        host.docker(2, "web-2")
        host.file(f"{CONTAINERD}/{new_id(3)}/config.json", cri("containerd", "api", 3))
        host.docker(0x7e57, "other")
        of = {path: host.cgroup(path, busy=True) for path in (
            f"docker/{new_id(1)}", f"docker/{new_id(2)}", f"{pod_slice(3)}/cri-containerd-{new_id(3)}.scope",
            f"docker/{new_id(0x7e57)}", "system.slice/systop-unit-a@1.service", "system.slice/systop-unit-b.service")}
        first, second, api, other, unit, _ = of.values()
        for spec, want in (("web-1", first), ("web-2", second), ("shop/pod-3", api), ("pod-3", api), ("api", api),
                           (new_id(0x7e57)[:9], other), (new_id(0x7e57), other), ("systop-unit-a@1", unit),
                           ("systop-unit-a@1.service", unit), ("unit-a", unit)):
            out = subprocess.run([SMALL, "--json", "-n", "1", "-d", "0.2", "-c", spec], capture_output=True, text=True,
                                 check=True)
            seen = {t["tid"] for t in json.loads(out.stdout)["threads"]}
            assert seen == {want}, (spec, seen, want)


def made_anew():
    """A container that is removed and made anew, with another id, is in scope by its name; none with a similar name is."""
    with Host() as host:
        host.docker(1, "web")
        host.docker(2, "web-2")
        first = host.cgroup(f"docker/{new_id(1)}", busy=True)
        host.cgroup(f"docker/{new_id(2)}", busy=True)
        with Systop("--all", "-d", "0.3", "-c", "web", program=SMALL) as systop:
            systop.line()
            assert {t["tid"] for t in systop.line()["threads"]} == {first}
            host.loads.pop(0).end()
            shutil.rmtree(os.path.join(host.root, "var/lib/docker/containers", new_id(1)))
            os.rmdir(os.path.join(host.top.path, "docker", new_id(1)))
            for _ in range(5):
                line = systop.line()
            assert not line["threads"], line["threads"]
            host.docker(3, "web")
            second = host.cgroup(f"docker/{new_id(3)}", busy=True)
            for _ in range(30):
                seen = {t["tid"] for t in systop.line()["threads"]}
                if seen:
                    break
            assert seen == {second}, (seen, second)
            systop.proc.terminate()
            said = systop.proc.stderr.read().decode().splitlines()
    assert len(said) == 2 and new_id(1)[:8] in said[0] and said[0].endswith("when it is back"), said
    assert new_id(3)[:8] in said[1] and said[1].endswith("is back"), said


def fails(spec, *words):
    out = subprocess.run([SMALL, "-b", "-n", "1", "-d", "0.2", "-c", spec], capture_output=True, text=True, check=False)
    assert out.returncode == 5 and all(word in out.stderr for word in words), (spec, out.returncode, out.stderr, out.stdout)


def ambiguous():
    """An error that lists the candidates, before anything is measured."""
    with Host() as host:
        host.docker(1, "systop-twin")
        host.file(f"{CONTAINERD}/{new_id(3)}/config.json", cri("containerd", "systop-twin", 3))
        host.file(f"{CONTAINERD}/{new_id(4)}/config.json", cri("containerd", "systop-other", 4))
        for path in (f"docker/{new_id(1)}", f"{pod_slice(3)}/cri-containerd-{new_id(3)}.scope",
                     f"{pod_slice(4)}/cri-containerd-{new_id(4)}.scope"):
            host.cgroup(path)
        fails("systop-twin", '2 cgroups match "systop-twin"', f"(container systop-twin {new_id(1)[:12]})",
              f"(container systop-twin {new_id(3)[:12]})")
        fails("shop/pod-", "2 cgroups match", "(pod shop/pod-3)", "(pod shop/pod-4)")
        fails("systop-tvin", "no cgroup matches", "did you mean", "(container systop-twin ")


def many(number):
    """Names of many containers are there when -c is resolved, within its bound."""
    with Host() as host:
        for i in range(number):
            host.docker(0x1000 + i, f"many-{i}")
            host.cgroup(f"docker/{new_id(0x1000 + i)}")
        began = time.monotonic()
        fails("many-", f"{number} cgroups match")
        took = time.monotonic() - began
        assert took < 3, took
        return f"{number} names, and the start: {took:.2f} s"


def openmetrics():
    """Labels, also of names that came later."""
    with Host() as host:
        host.docker(1, 'we"b')
        host.cgroup(f"docker/{new_id(1)}")
        host.cgroup("system.slice/ssh.service")
        out = subprocess.run([SMALL, "--openmetrics", "-", "-n", "3", "-d", "0.4", *host.scope()], capture_output=True,
                             text=True, check=True).stdout
        last = out.split("# EOF")[-2]
        assert f'{new_id(1)}",container="we\\"b"}}' in last, last[:2000]
        assert 'system.slice/ssh.service",unit="ssh.service"}' in last, last[:2000]


def real_units():
    """Services of a real systemd: a template's instance, an escaped name, a slice."""
    units = {"systop-real@1.service": "systop-real@1.service",
             "systop-real@dev-disk-by\\x2duuid.service": "systop-real@dev-disk-by-uuid.service"}
    with Manager() as manager:
        where = next(path for path in manager.places if os.path.exists(f"{path}/cgroup.procs"))
        started = [subprocess.Popen([*manager.command(f"--unit={unit}", "--slice=systop-test.slice"), "sleep", "60"],
                                    stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for unit in units]
        with Systop("-d", "0.2", "-c", where) as systop:
            belongs(systop, {f"systop.slice/systop-test.slice/{path}": (None, None, unit) for path, unit in units.items()} |
                    {"systop.slice/systop-test.slice": (None, None, "systop-test.slice")}, 30)
    for one in started:
        one.wait()


def main():
    tap = begin()
    tap.case("each runtime's names, and units", names)
    tap.case("names that come later", later)
    tap.case("files that nobody should have", bad_files)
    tap.case("folders that others can write to", bad_folders)
    tap.case("a folder that does not answer", stuck)
    tap.case("-c takes units, containers and pods", scopes)
    tap.case("-c finds a container that is made anew", made_anew)
    tap.case("-c lists what it could mean", ambiguous)
    tap.case("300 containers", many, 300)
    tap.case("labels of OpenMetrics", openmetrics)
    if os.path.exists("/lib/systemd/systemd"):
        tap.case("units of a real systemd", real_units)
    else:
        tap.skip("units of a real systemd", "no systemd")
    tap.done()


main()
