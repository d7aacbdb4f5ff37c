#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rights of each process of systop, by /proc/PID/status, against the man page's table: as root, under sudo, and
for a user with capabilities."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from harness import SYSTOP, begin, descendants, load_path

MAN = os.path.join(os.environ.get("SYSTOP_MAN", "build/man"), "systop.8")
TAKEN, LAST, USER, GROUP = 65536, 65599, 4321, 4322
CAPS = {name: number for number, name in enumerate(
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE "
    "NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN "
    "SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE "
    "MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE".split())}
with open("/proc/self/oom_score_adj", encoding="ascii") as own:
    OWN_SCORE = int(own.read())
PROCESSES = 1500  # processes, which keep systop-info busy for a while


def table():
    """{process: (user, capabilities)} of the man page."""
    with open(MAN, encoding="utf-8") as f:
        text = f.read()
    part = text[text.index("process\tuser\tcapabilities"):]
    cells = re.findall(r"T\{\n(.*?)\nT\}", part[:part.index(".TE")], re.DOTALL)
    cells = [cell.replace("\\-", "-") for cell in cells]
    rows = {}
    for name, user, caps, _ in zip(*[iter(cells)] * 4):
        rows[name] = user, sum(1 << CAPS[cap.removeprefix("CAP_")] for cap in caps.split() if cap != "none")
    assert {"systop", "systop-starter", "systop-open", "systop-symbols", "systop-write"} <= rows.keys(), rows
    return rows


def status_of(pid):
    """Status of a process of systop. None: it is gone, or has not yet dropped its rights: the last step adds a
    seccomp filter, and a helper adds one to the starter's."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as f:
            status = dict(re.findall(r"^(\w+):\t(.*)$", f.read(), re.MULTILINE))
        with open(f"/proc/{pid}/limits", encoding="utf-8") as f:
            status["limits"] = dict(re.findall(r"^(Max [a-z ]+?) +(\d+|unlimited) ", f.read(), re.MULTILINE))
        status["mem"] = os.stat(f"/proc/{pid}/mem").st_uid  # root's, if the process is not dumpable
        with open(f"/proc/{pid}/oom_score_adj", encoding="ascii") as f:
            status["oom"] = int(f.read())
    except (FileNotFoundError, ProcessLookupError):
        return None
    filters = "1" if status["Name"] in ("systop", "systop-starter") else "2"
    return status if status["Name"].startswith("systop") and status["Seccomp_filters"] == filters else None


def look(main, seen):
    """Adds the processes that run now to {name: status}. A helper has the starter's name at first."""
    for pid in descendants(main):
        status = status_of(pid)
        if status and (status["Name"] != "systop-starter" or "systop-starter" not in seen):
            seen[status["Name"]] = status


def expect(name, status, rows, held, bounding, ids):
    """Compares a process with its row."""
    user, caps = rows[name]
    want = f"{caps & held:016x}"
    what = f"{name}: "
    assert status["CapEff"] == status["CapPrm"] == want, f"{what}effective {status['CapEff']}, permitted {status['CapPrm']}, not {want}"
    for which in ("CapInh", "CapAmb"):
        assert int(status[which], 16) == 0, f"{what}{which} {status[which]}"
    assert int(status["CapBnd"], 16) == bounding, f"{what}bounding set {status['CapBnd']}, not {bounding:x}"
    uid, gid = ids[user]
    for which, want in (("Uid", uid), ("Gid", gid)):
        assert status[which].split() == [str(i) for i in want], f"{what}{which} {status[which].split()}, not {want}"
    assert status["NoNewPrivs"] == "1", f"{what}no_new_privs {status['NoNewPrivs']}"
    assert status["limits"]["Max core file size"] == "0", f"{what}{status['limits']}"
    assert status["Seccomp"] == "2", f"{what}seccomp {status['Seccomp']}"
    assert status["mem"] == 0, f"{what}it is dumpable"
    score = 1000 if name not in ("systop", "systop-starter") else OWN_SCORE
    assert status["oom"] == score, f"{what}oom_score_adj {status['oom']}"
    if name not in ("systop", "systop-starter"):
        assert int(status["limits"]["Max open files"]) <= 256, f"{what}{status['limits']}"


def rights(folder, env, command, held, bounding, ids, program=SYSTOP):
    """Runs systop so that each process is seen; SIGUSR1 starts those that write a trace."""
    rows = table()
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("SUDO_")}, **env}
    with open(os.path.join(folder, "said"), "w+", encoding="utf-8") as log:
        proc = subprocess.Popen([*command, program, "--json", "-d", "0.5", "--window", "1", "--log", "systop.log"],
                                stdout=subprocess.PIPE, stderr=log, env=env, cwd=folder)
        seen = {}
        try:
            assert proc.stdout.readline(), open(log.name, encoding="utf-8").read()
            end = time.monotonic() + 40
            saved = 0
            wanted = rows.keys() - {"systop-config", "systop-facts"}  # these run only for the key W and for the detail
            while wanted - seen.keys() and time.monotonic() < end:
                look(proc.pid, seen)
                if time.monotonic() - saved > 2:
                    proc.send_signal(signal.SIGUSR1)
                    saved = time.monotonic()
        finally:
            proc.terminate()
            proc.communicate()
        log.seek(0)
        told = log.read()
    os.remove(os.path.join(folder, "systop.log"))  # the next run's user may not write it
    missing = wanted - seen.keys()
    assert not missing, f"not seen: {missing}; {told}"
    unused = next(int(seen[name]["Uid"].split()[0]) for name in seen if rows[name][0] == "nobody")
    if callable(ids):  # any user that had no processes at the start: other systops may come and go meanwhile
        assert TAKEN < unused <= LAST, unused
        ids = ids(unused)
    for name, status in seen.items():
        expect(name, status, rows, held, bounding, ids)
    return ", ".join(sorted(seen))


def all_ids(uid, gid):
    return [uid] * 4, [gid] * 4


EVERY = (1 << 64) - 1


def as_root(folder):
    def ids(uid):
        roots = [uid] * 3 + [0]
        return {"nobody": all_ids(uid, uid), "invoker": all_ids(uid, uid), "writer": (roots, roots)}

    return rights(folder, {}, [], EVERY, 0, ids)


def under_sudo(folder):
    user = all_ids(USER, GROUP)
    return rights(folder, {"SUDO_UID": str(USER), "SUDO_GID": str(GROUP), "SUDO_USER": "somebody"}, [], EVERY, 0,
                  lambda uid: {"nobody": all_ids(uid, uid), "invoker": user, "writer": user})


def with_capabilities(folder, of_file):
    """Ambient capabilities, as in a unit of systemd, or those of the file; without CAP_SETPCAP the bounding set stays."""
    with open("/proc/self/status", encoding="utf-8") as f:
        bounding = int(re.search(r"^CapBnd:\t(\w+)$", f.read(), re.MULTILINE).group(1), 16)
    caps = "bpf perfmon sys_ptrace net_raw".split()
    given = ",".join(f"+{cap}" for cap in caps)
    user, program, ambient = all_ids(USER, GROUP), SYSTOP, [f"--inh-caps={given}", f"--ambient-caps={given}"]
    if of_file:
        # setpriv keeps its capabilities until it executes env: the kernel makes a process that gains some by its file undumpable.
        program, ambient = shutil.copy(SYSTOP, folder), []
        subprocess.run(["setcap", ",".join(f"cap_{cap}" for cap in caps) + "+ep", program], check=True,
                       env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    return rights(folder, {}, ["setpriv", f"--reuid={USER}", f"--regid={GROUP}", "--clear-groups", *ambient, "env"],
                  sum(1 << CAPS[cap.upper()] for cap in caps), bounding,
                  {"nobody": user, "invoker": user, "writer": user}, program)


def main():
    tap = begin()
    with subprocess.Popen([load_path("threads"), str(PROCESSES), str(PROCESSES)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, user=TAKEN) as crowd, tempfile.TemporaryDirectory() as folder:
        crowd.stdout.readline()  # all processes exist
        os.chmod(folder, 0o777)
        tap.case("as root", as_root, folder)
        tap.case("under sudo", under_sudo, folder)
        tap.case("for a user with capabilities", with_capabilities, folder, False)
        tap.case("for a user, with capabilities of the file", with_capabilities, folder, True)
    tap.done()


main()
