# SPDX-License-Identifier: GPL-2.0-or-later
"""The layers of bpf/ and src/, as #include lines show them:

  bpf layouts <- util <- model <- {proc, helper, owner, sym/names, record} <- {collect, query} <- {export, tui} <- save <- app

Nothing in one brace includes a neighbour. The table of folders in doc/how-it-works.md says the same, or the test fails."""

import glob
import os
import re

TOP = os.environ.get("srcdir", ".")
DOCUMENT = "doc/how-it-works.md"
# What the files of a folder may include besides their own, and through it what the folders named here may.
DIRECT = {
    "util": ["bpf layouts"],
    "model": ["util"],
    "proc": ["model"],
    "helper": ["model"],
    "owner": ["helper"],
    "sym": ["owner"],
    "record": ["model"],
    "collect": ["proc", "helper", "record"],
    "query": ["model", "sym/names.h"],
    "export": ["query", "helper"],
    "tui": ["query", "helper"],
    "save": ["collect", "export"],
    "app": ["save", "sym", "tui"],
}
# Headers of libraries, and the folders that may include them.
LIBRARIES = {
    "libbpf": (r"bpf/.*|systop\.skel\.h", ["record", "collect"]),
    "libelf": (r"(libelf|gelf).*", ["sym"]),
    "libdw": (r"(elfutils/|dwarf).*", ["sym"]),
    "json-c": (r"json-c/.*", ["owner", "export"]),
    "protobuf-c": (r"protobuf-c/.*|.*\.pb-c\.h", ["export"]),
    "curses": (r"(ncursesw?/)?(ncurses|curses|term|panel)\.h", ["tui"]),
    "inih": (r"ini\.h", ["tui", "app"]),
    "libseccomp": (r"seccomp\.h", ["helper"]),
}
# The sources of events and ticks may not even be named there: tests are a second source, and files can be a third.
MAKERS = re.compile(r"\b(collect|record)/")
UNAWARE = ["query", "export", "tui"]
# Headers of bpf/ that are not layouts: only the programs include them, and all NAME.bpf.h.
PROGRAMS = ["account.h", "kernel.h"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]*)[>"]', re.MULTILINE)


def files_below(folder):
    return sorted(path for ext in "ch" for path in glob.glob(f"{TOP}/{folder}/**/*.{ext}", recursive=True))


def includes(folder):
    """(file, quote, header) of each line of the files of a folder and below."""
    for path in files_below(folder):
        with open(path, encoding="utf-8") as f:
            for quote, header in INCLUDE.findall(f.read()):
                yield os.path.relpath(path, TOP), quote, header


def allowed(folder):
    """All that a folder may include: folders, and single headers."""
    below = set(DIRECT[folder])
    for one in DIRECT[folder]:
        below |= allowed(one) if one in DIRECT else set()
    return below


def is_below(header, below):
    return header in below or header.partition("/")[0] in below


def layers(folder, headers):
    below = allowed(folder) | {folder}
    for file, quote, header in includes(f"src/{folder}"):
        in_bpf = header in headers["bpf"]
        if in_bpf and "bpf layouts" not in below:
            yield f"{file} may not include bpf/{header}"
        if in_bpf and (header.endswith(".bpf.h") or header in PROGRAMS):
            yield f"{file} may not include bpf/{header}: it is the programs' own"
        if quote == '"' and not in_bpf and "/" not in header and header in headers["src names"]:
            yield f'{file} includes "{header}" without its folder'
        if header in headers["src"] and not is_below(header, below):
            yield f"{file} may not include {header}"


def libraries(folder):
    for file, _, header in includes(f"src/{folder}"):
        for name, (pattern, users) in LIBRARIES.items():
            if re.fullmatch(pattern, header) and folder not in users:
                yield f"{file} may not include {header}: {name} is only in {', '.join(users)}"


def makers(folder):
    for path in files_below(f"src/{folder}"):
        with open(path, encoding="utf-8") as f:
            for nr, line in enumerate(f, 1):
                if MAKERS.search(line):
                    yield f"{os.path.relpath(path, TOP)}:{nr} names {MAKERS.search(line)[0]}"


def layouts(headers):
    """Layouts include only layouts, and bpf/ includes nothing of src/."""
    for file, _, header in includes("bpf"):
        name = os.path.basename(file)
        if header in headers["src"]:
            yield f"{file} may not include {header}"
        if header in headers["bpf"] and not name.endswith((".bpf.c", ".bpf.h")) and name not in PROGRAMS and \
           (header.endswith(".bpf.h") or header in PROGRAMS):
            yield f"{file} is a layout and may not include {header}"


def may_include(folder):
    """The words of the table."""
    used = [name for name, (_, users) in LIBRARIES.items() if folder in users]
    return "; ".join(filter(None, [", ".join(DIRECT[folder]), ", ".join(used)]))


def table(folders):
    """Rows of the table of folders in DOCUMENT: | `src/model` | what it holds | what it may include |"""
    with open(f"{TOP}/{DOCUMENT}", encoding="utf-8") as f:
        rows = re.findall(r"^\| `(bpf|src/[^`]*)` \| (.+?) \| (.*?) ?\|$", f.read(), re.MULTILINE)
    want = {f"src/{folder}": may_include(folder) if folder in DIRECT else "" for folder in folders}
    want["bpf"] = ""
    for path, _, words in rows:
        if path not in want:
            yield f"{path} is in the table, and no folder"
        elif words != want[path]:
            yield f'{path} may include "{want[path]}", and the table says "{words}"'
    for path in sorted(set(want) - {path for path, _, _ in rows}):
        yield f"{path} is not in the table"


def main():
    paths = sorted(os.path.relpath(path, f"{TOP}/src") for path in files_below("src"))
    headers = {"src": set(paths), "src names": {os.path.basename(path) for path in paths},
               "bpf": {os.path.basename(path) for path in files_below("bpf")}}
    folders = sorted({path[:at.start()] for path in paths for at in re.finditer("/", path)})
    assert folders and headers["bpf"], f"nothing to look at in {TOP}"
    cases = []
    for folder in DIRECT:
        cases += [(f"src/{folder} includes only layers below it", layers(folder, headers)),
                  (f"src/{folder} includes only its libraries", libraries(folder))]
    cases += [(f"src/{folder} names no maker of ticks or events", makers(folder)) for folder in UNAWARE]
    cases += [("layouts of bpf/ include layouts only", layouts(headers)),
              ("every folder of src/ is a known layer",
               [folder for folder in folders if folder.partition("/")[0] not in DIRECT]),
              ("nothing is loose in src/", [path for path in paths if "/" not in path]),
              (f"the table of folders in {DOCUMENT} says what this test does", table(folders))]
    print(f"1..{len(cases)}")
    for nr, (name, wrong) in enumerate(cases, 1):
        wrong = list(wrong)
        print(f"{'not ok' if wrong else 'ok'} {nr} - {name}")
        for line in wrong:
            print(f"# {line}")


main()
