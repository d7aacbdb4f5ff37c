/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include <string.h>

const struct fuzz_target fuzz_targets[] = {
	{ "blocked", 512, fuzz_blocked, "answers about stacks of blocked threads" },
	{ "cfi", 512, fuzz_cfi, "an .eh_frame section" },
	{ "config", 1024, fuzz_config, "the config file" },
	{ "containers", 1024, fuzz_containers, "answers of the helpers that find and read names of containers" },
	{ "debugdata", 2048, fuzz_debugdata, "a .gnu_debugdata section" },
	{ "demangle", 256, fuzz_demangle, "a name of C++, Rust, D or others" },
	{ "elf", 4096, fuzz_elf, "an ELF file's symbols, stubs, build-id, debug link and unwind table" },
	{ "filter", 256, fuzz_filter, "expressions of --filter and --on" },
	{ "image", 8192, fuzz_image, "the image that a trace is written from" },
	{ "kallsyms", 1024, fuzz_kallsyms, "/proc/kallsyms" },
	{ "keys", 256, fuzz_keys, "keys, clicks and sizes of the terminal" },
	{ "lines", 8192, fuzz_lines, "DWARF line numbers and inlined functions" },
	{ "messages", 1024, fuzz_messages, "a message between processes, whatever it is" },
	{ "mounts", 512, fuzz_mounts, "the list of what is mounted" },
	{ "names", 1024, fuzz_names, "answers of the helpers that open files and find names" },
	{ "open", 512, fuzz_open, "requests to the helper that opens files" },
	{ "owner", 512, fuzz_owner, "the path of a cgroup" },
	{ "peek", 1024, fuzz_peek, "the kernel's records of blocked threads" },
	{ "perfmap", 1024, fuzz_perfmap, "the map of a JIT" },
	{ "rings", 1024, fuzz_rings, "a ring of the recorder" },
	{ "runtime", 2048, fuzz_runtime, "a file in which a container runtime keeps names" },
	{ "save", 1024, fuzz_save, "the config file that W writes over" },
	{ "settings", 256, fuzz_settings, "one setting" },
	{ "starter", 512, fuzz_starter, "requests to the starter" },
	{ "symbols", 4096, fuzz_symbols, "requests to the helper that finds names" },
	{ "table", 2048, fuzz_table, "unwind tables that a helper made" },
	{ "text", 256, fuzz_text_safe, "a name of unknown origin" },
	{ "theme", 512, fuzz_theme, "a theme" },
	{ "commands", 512, fuzz_commands, "answers with command lines" },
	{ "who", 1024, fuzz_who, "the table of command lines, by who fills it and by who reads it" },
	{ "write", 4096, fuzz_write, "requests to the helper that writes traces" },
	{ "writer", 1024, fuzz_writer, "requests to the helper that writes the config file" },
	{ 0 }
};

const struct fuzz_target *fuzz_find(const char *name)
{
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}
