# SPDX-License-Identifier: GPL-2.0-or-later
"""The layers of src/, as #include lines show them:

  util <- model <- {proc, helper, sym/names, record} <- {collect, export, tui}

Nothing in one brace includes a neighbour; what is directly in src/ may see all."""

import glob
import os
import re

TOP = os.environ.get("srcdir", ".")
# What the files of a folder may include of src/, besides their own folder.
BELOW = {"util": (), "model": ("util/",),
         **dict.fromkeys(("proc", "helper", "record"), ("util/", "model/")),
         "sym": ("util/", "model/", "helper/"),
         **dict.fromkeys(("collect", "export", "tui"),
                         ("util/", "model/", "proc/", "helper/", "sym/names.h", "record/"))}
# Where the headers of libraries, and of BPF programs, may be included.
LIBRARIES = ((r"bpf/.*", ("collect", "record")),
             (r"systop\.skel\.h", ("collect", "record")),
             (r"(ncursesw?/)?(ncurses|curses|term|panel)\.h", ("tui",)),
             (r"(elfutils/|dwarf|libelf|gelf).*", ("sym",)),
             (r"protobuf-c/.*", ("export",)),
             (r".*\.pb-c\.h", ("export",)))
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]*)[>"]', re.MULTILINE)


def includes(folder):
    """(file, quote, header) of each line of a folder's files."""
    for path in sorted(glob.glob(f"{TOP}/src/{folder}/*.[ch]")):
        with open(path, encoding="utf-8") as f:
            for quote, header in INCLUDE.findall(f.read()):
                yield os.path.relpath(path, f"{TOP}/src"), quote, header


def layers(folder, folders):
    for file, quote, header in includes(folder):
        above = header.partition("/")[0]
        if "/" not in header:
            if quote == '"' and os.path.exists(f"{TOP}/src/{folder}/{header}"):
                yield f'{file} includes "{header}" without its folder'
        elif above in folders and above != folder and not header.startswith(BELOW[folder] or ("\0",)):
            yield f"{file} may not include {header}"


def libraries(folder, programs):
    for file, _, header in includes(folder):
        if header in programs:
            yield f"{file} may not include {header}: a program's"
        for pattern, allowed in LIBRARIES:
            if re.fullmatch(pattern, header) and folder not in allowed:
                yield f"{file} may not include {header}: only in {', '.join(allowed)}"


def main():
    folders = sorted(os.path.basename(d.rstrip("/")) for d in glob.glob(f"{TOP}/src/*/"))
    programs = {os.path.basename(path) for path in glob.glob(f"{TOP}/bpf/*.bpf.*")}
    assert folders and programs, f"nothing to look at in {TOP}"
    unknown = [folder for folder in folders if folder not in BELOW]
    cases = []
    for folder in folders:
        if folder in BELOW:
            cases += [(f"src/{folder} includes only layers below it", list(layers(folder, folders))),
                      (f"src/{folder} includes only its libraries", list(libraries(folder, programs)))]
    cases.append(("every folder of src/ is a known layer", unknown))
    print(f"1..{len(cases)}")
    for nr, (name, wrong) in enumerate(cases, 1):
        print(f"{'not ok' if wrong else 'ok'} {nr} - {name}")
        for line in wrong:
            print(f"# {line}")


main()
