# SPDX-License-Identifier: GPL-2.0-or-later
"""--openmetrics FILE, as read by prometheus_client's parser, against the kernel's numbers of the same time."""

import fcntl
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import SYSTOP, Cgroup, Load, begin, bpf_ids, bpf_left, helper_of, load_path  # noqa: E402

from prometheus_client.openmetrics.parser import text_string_to_metric_families  # noqa: E402

WAIT = 30
# A refresh is read some time after it was taken: until then a load can run, or a thread can wait, all the time.
LATE = 0.35


class Text:
    """One refresh: families by name, samples by name and labels."""

    def __init__(self, text):
        assert text.endswith("# EOF\n"), text[-100:]
        self.families = {f.name: f for f in text_string_to_metric_families(text)}
        self.samples = {(s.name, tuple(sorted(s.labels.items()))): s.value
                        for f in self.families.values() for s in f.samples}

    def value(self, name, **labels):
        return self.samples.get((name, tuple(sorted(labels.items()))))

    def buckets(self, family, **labels):
        """Cumulative, by their order."""
        return [s.value for s in self.families[family].samples
                if s.name.endswith("_bucket") and {k: v for k, v in s.labels.items() if k != "le"} == labels]


class Exporter:
    """systop --openmetrics; its file is read each time it is replaced."""

    def __init__(self, folder, *args):
        self.path = os.path.join(folder, "systop.prom")
        self.inode = self.written = None
        self.proc = subprocess.Popen([SYSTOP, "--openmetrics", self.path, *args], stderr=subprocess.PIPE, text=True,
                                     umask=0o077)  # as in a hardened service: the collector has to be able to read the file

    def next(self):
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            try:
                with open(self.path, encoding="utf-8") as f:
                    state = os.fstat(f.fileno())
                    if state.st_ino != self.inode:
                        self.inode, self.written = state.st_ino, state.st_mtime
                        return Text(f.read())
            except FileNotFoundError:
                pass
            assert self.proc.poll() is None, f"it ended: {self.proc.stderr.read()}"
            time.sleep(0.01)
        raise AssertionError("no refresh")

    def late(self):
        """How long ago the last file was written, s."""
        return time.time() - self.written

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.proc.poll() is None:
            self.proc.terminate()
        self.proc.wait(WAIT)
        self.proc.stderr.close()


def once(*args):
    """The last refresh of a run that ends by itself."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "systop.prom")
        subprocess.run([SYSTOP, "--openmetrics", path, *args], check=True, timeout=60, stderr=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as f:
            return Text(f.read())


def cpu_seconds(cgroup):
    with open(os.path.join(cgroup.path, "cpu.stat")) as f:
        return int(dict(line.split() for line in f)["usage_usec"]) / 1e6


def pressure_seconds(resource, share):
    """None: the kernel does not provide it. For full of CPUs it always prints 0: that is not defined for the host."""
    if (resource, share) == ("cpu", "full"):
        return None
    try:
        with open(f"/proc/pressure/{resource}") as f:
            lines = {line.split()[0]: line for line in f}
        return int(lines[share].rpartition("total=")[2]) / 1e6
    except (OSError, KeyError):
        return None


# How much there is: of processes, which are not in it, and of these.
LEVELS = {"rss_bytes": (), "swap_bytes": ("cgroup",), "memory_bytes": ("cgroup",)}


def host():
    """The host's memory and load are those of the kernel."""
    text = once("-d", "0.3", "-n", "1")
    with open("/proc/meminfo", encoding="ascii") as f:
        truth = {name: int(value.split()[0]) << 10 for name, value in (line.split(":") for line in f)}
    assert text.value("systop_host_memory_total_bytes") == truth["MemTotal"]
    assert 0 < text.value("systop_host_memory_available_bytes") < truth["MemTotal"]
    assert text.value("systop_host_swap_total_bytes") == truth["SwapTotal"]
    assert text.value("systop_host_swap_used_bytes") <= truth["SwapTotal"]
    assert all(0 <= text.value("systop_host_load", minutes=minutes) < 10000 for minutes in ("1", "5", "15"))


def names():
    """Families follow from the metrics' table, which -s help and --schema show."""
    text = once("-d", "0.3", "-n", "1")
    columns = subprocess.run([SYSTOP, "-s", "help"], capture_output=True, text=True, check=True).stdout
    metrics = [line.split()[1] for line in columns.splitlines() if "(on the screen" not in line]
    assert "run_ns" in metrics and "wakeups" in metrics, metrics
    for metric in metrics:
        unit = "seconds" if metric.endswith("_ns") else "bytes" if metric.endswith("_bytes") else ""
        stem = metric[:-3] + "_seconds" if unit == "seconds" else metric
        for of in "host", "cgroup":
            family = text.families.get(f"systop_{of}_{stem}")
            if metric in LEVELS:
                assert bool(family) == (of in LEVELS[metric]), f"systop_{of}_{stem}"
                assert not family or (family.type, family.unit) == ("gauge", "bytes"), family
                continue
            if "_p50" in metric or "_p99" in metric:
                assert not family, f"{metric} follows from the histogram"
                continue
            assert family, f"systop_{of}_{stem} is missing"
            assert family.unit == unit and family.documentation, family
            assert family.type == ("gauge" if "_max" in metric else "counter"), family
    assert text.families["systop_host_runqueue_wait_seconds"].type == "histogram"
    assert text.value("systop_host_run_seconds_total") > 0
    assert text.value("systop_cgroup_run_seconds_total", cgroup="/") is not None
    assert "systop_lost" in text.families and "systop_repaired" in text.families, list(text.families)


def run_time():
    """Counters of a cgroup grow like the kernel's."""
    with tempfile.TemporaryDirectory() as d, Cgroup(f"systop-om-{os.getpid()}") as cgroup, \
            Load(load_path("spin"), "user", "60") as load:
        cgroup.add(load.pid)
        label = {"cgroup": f"/{cgroup.name}"}
        with Exporter(d, "-d", "0.5") as systop:
            while systop.next().value("systop_cgroup_run_seconds_total", **label) is None:
                pass
            texts, seconds = [systop.next()], [cpu_seconds(cgroup)]
            for _ in range(8):
                texts.append(systop.next())
            seconds.append(cpu_seconds(cgroup))
        got = [t.value("systop_cgroup_run_seconds_total", **label) for t in texts]
        ran, truth = got[-1] - got[0], seconds[1] - seconds[0]
        assert abs(ran - truth) < LATE + 0.02 * truth and ran > 0.5, (ran, truth)
        assert texts[-1].value("systop_cgroup_threads", **label) == 1
        # On a busy host the load may not run at all in half a second.
        assert got == sorted(got) and len(set(got)) > len(got) / 2, got
        return f"{ran:.2f} s, {truth:.2f} s by cpu.stat"


def monotone():
    """No counter or bucket of a cgroup that stays ever shrinks; the count of a histogram is the sum of its buckets."""
    with tempfile.TemporaryDirectory() as d, Exporter(d, "-d", "0.3") as systop:
        before = systop.next()
        for _ in range(6):
            now = systop.next()
            for key, value in now.samples.items():
                name = key[0]
                if name.endswith(("_total", "_bucket", "_count", "_sum")) and key in before.samples:
                    assert value >= before.samples[key], (key, before.samples[key], value)
            for of, labels in ("host", {}), ("cgroup", {"cgroup": "/"}):
                family = f"systop_{of}_runqueue_wait_seconds"
                buckets = now.buckets(family, **labels)
                assert len(buckets) > 20 and buckets == sorted(buckets), buckets
                assert buckets[-1] == now.value(f"{family}_count", **labels) > 0, buckets
                assert now.value(f"{family}_sum", **labels) == now.value(f"systop_{of}_runq_seconds_total", **labels)
            before = now


def pressure():
    """PSI grows like /proc/pressure; what the kernel does not provide is left out."""
    with tempfile.TemporaryDirectory() as d, Exporter(d, "-d", "0.5") as systop:
        kinds = [(r, s) for r in ("cpu", "memory", "io") for s in ("some", "full")]
        first, then = systop.next(), {kind: pressure_seconds(*kind) for kind in kinds}
        most = LATE + systop.late()  # pressure grows by a second in a second at most
        for _ in range(5):
            last = systop.next()
        for resource, share in kinds:
            labels = {"resource": resource, "share": share}
            got = last.value("systop_pressure_seconds_total", **labels)
            now = pressure_seconds(resource, share)
            assert (got is None) == (now is None), (labels, got, now)
            if now is not None:
                grew = got - first.value("systop_pressure_seconds_total", **labels)
                assert abs(grew - (now - then[resource, share])) < most + systop.late(), \
                    (labels, grew, now - then[resource, share], most)


def labels():
    """Quotes and backslashes in a cgroup's name are preserved; a cgroup that goes leaves nothing."""
    name = f'systop-om"\\{os.getpid()}'
    with tempfile.TemporaryDirectory() as d, Exporter(d, "-d", "0.3") as systop:
        with Cgroup(name), Load("sleep", "60"):
            for _ in range(WAIT):
                if systop.next().value("systop_cgroup_run_seconds_total", cgroup=f"/{name}") is not None:
                    break
            else:
                raise AssertionError(f"no {name}")
        end = time.monotonic() + WAIT  # a cgroup's directory is looked for every 10 s
        while time.monotonic() < end:
            text = systop.next()
            if not [key for key in text.samples if ("cgroup", f"/{name}") in key[1]]:
                return
        raise AssertionError(f"{name} is still there")


def file():
    """Each refresh is a new file that others may read; after a signal the last one is all that is left."""
    before = bpf_ids()
    with tempfile.TemporaryDirectory() as d:
        with Exporter(d, "-d", "0.2") as systop:
            inodes = set()
            for _ in range(4):
                systop.next()
                inodes.add(systop.inode)
            systop.proc.send_signal(signal.SIGINT)
            assert systop.proc.wait(WAIT) == -signal.SIGINT
            assert len(inodes) > 1, inodes
        assert os.listdir(d) == ["systop.prom"], os.listdir(d)
        assert stat.S_IMODE(os.stat(systop.path).st_mode) == 0o644, oct(os.stat(systop.path).st_mode)
        with open(systop.path, encoding="utf-8") as f:
            Text(f.read())
        # A helper writes it, which may take longer than a refresh: nobody reads too late.
        said = subprocess.run([SYSTOP, "--openmetrics", systop.path, "-d", "0.1", "-n", "20"], capture_output=True,
                              text=True, check=True, timeout=60).stderr
        assert not said or re.fullmatch(r"systop: \d+ refresh(es)? dropped: it could not be written in time\n",
                                        said), said
    assert not bpf_left(before), "BPF is left"


def streams():
    """Standard output and a FIFO get one refresh after the other."""
    done = subprocess.run([SYSTOP, "--openmetrics", "-", "-d", "0.4", "-n", "3"], capture_output=True, text=True,
                          check=True, timeout=60)
    assert done.stdout.count("# EOF\n") >= 1 and done.stdout.endswith("# EOF\n"), done
    for part in done.stdout.split("# EOF\n")[:-1]:
        Text(part + "# EOF\n")
    with tempfile.TemporaryDirectory() as d:
        fifo = os.path.join(d, "fifo")
        os.mkfifo(fifo)
        got = []

        def read():
            with open(fifo, encoding="utf-8") as f:
                got.append(f.read())

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        subprocess.run([SYSTOP, "--openmetrics", fifo, "-d", "0.3", "-n", "1"], check=True, timeout=60)
        reader.join(WAIT)
        Text(got[0])
        assert stat.S_ISFIFO(os.lstat(fifo).st_mode), "it is replaced"


def slow_reader():
    """Refreshes that are not written while the reader is slow are in the next text, also in the last one."""
    with Cgroup(f"systop-slow-{os.getpid()}") as cgroup, Load(load_path("spin"), "user", "60") as load:
        cgroup.add(load.pid)
        label = {"cgroup": f"/{cgroup.name}"}
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        with subprocess.Popen([SYSTOP, "--openmetrics", "-", "-d", "0.2", "-n", "40"], stdout=writer,
                              stderr=subprocess.PIPE, text=True) as systop, open(reader, encoding="utf-8") as pipe:
            os.close(writer)
            texts, seconds = [], []

            def read():
                lines = []
                while not lines or lines[-1] != "# EOF\n":
                    lines.append(pipe.readline())
                    if not lines[-1]:
                        return False
                texts.append(Text("".join(lines)))
                seconds.append(cpu_seconds(cgroup))
                return True

            while read() and texts[-1].value("systop_cgroup_run_seconds_total", **label) is None:
                pass
            first = len(texts)
            assert read()
            time.sleep(2)
            while read():
                pass
            said = systop.stderr.read()
        got = [t.value("systop_cgroup_run_seconds_total", **label) for t in texts[first:]]
        ran, truth = got[-1] - got[0], seconds[-1] - seconds[first]
        dropped = int(re.search(r"(\d+) refresh", said)[1])
        assert dropped >= 5, f"{dropped} dropped, {len(texts)} texts"
        assert abs(ran - truth) < LATE + 0.02 * truth and ran > 0.5, (ran, truth, dropped)
        return f"{ran:.2f} s, {truth:.2f} s by cpu.stat, {dropped} of 40 refreshes not written"


def starter_stopped():
    """While no helper can be started, refreshes are dropped; then it goes on."""
    with tempfile.TemporaryDirectory() as d, Exporter(d, "-d", "0.5") as systop:
        systop.next()
        starter = helper_of(systop.proc.pid, "systop-starter")
        os.kill(starter, signal.SIGSTOP)
        time.sleep(1.2)
        os.kill(starter, signal.SIGCONT)
        systop.next()
        systop.proc.terminate()
        said = systop.proc.stderr.read()
        assert systop.proc.wait(WAIT) == -signal.SIGTERM and re.match(r"systop: [1-9]\d* refresh(es)? dropped: ", said), said


def no_room():
    """The old file stays; systop ends with the reason."""
    with tempfile.TemporaryDirectory() as d:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", d], check=True)
        try:
            path = os.path.join(d, "systop.prom")
            with open(path, "w") as f:
                f.write("old")
            done = subprocess.run([SYSTOP, "--openmetrics", path, "-d", "0.2"], capture_output=True, text=True,
                                  check=False, timeout=60)
            assert done.returncode == 1 and "No space left on device (need " in done.stderr, done
            assert os.listdir(d) == ["systop.prom"] and open(path).read() == "old", os.listdir(d)
        finally:
            subprocess.run(["umount", "-l", d], check=True)


def main():
    tap = begin()
    tap.case("the file is another one each time, and stays", file)  # it looks at all BPF programs of the host
    tap.together([
        ("labels come back as they are, and go with their cgroup", labels),  # it takes the longest
        ("a slow reader misses no sum", slow_reader),
        ("a cgroup's counters grow as the kernel's", run_time),
        ("counters and histograms never shrink, and add up", monotone),
        ("pressure is the kernel's", pressure),
        ("every metric has its family, unit and kind", names),
        ("memory and load of the host", host),
        ("standard output and FIFOs are written to", streams),
        ("no helper can be started for a while", starter_stopped),
        ("without room the old file stays", no_room),
    ], 3)
    tap.done()


main()
