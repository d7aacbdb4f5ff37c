/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwinder's tables, and the files that they are of: see mapping.bpf.h and unwind.bpf.h. */

#include "unwind.bpf.h"

const volatile bool mappings_known;
const volatile __u32 page_shift = 12;
const volatile __u32 files_max = UNWIND_FILES;

struct files_map files SEC(".maps");
struct files_asked_map files_asked SEC(".maps");
struct file_events_map file_events SEC(".maps");
struct unwind_files_map unwind_files SEC(".maps");
struct unwind_pages_map unwind_pages SEC(".maps");
struct unwind_rules_map unwind_rules SEC(".maps");
struct unwind_chunks_map unwind_chunks SEC(".maps");
struct unwinds_map unwinds SEC(".maps");
