/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scope's settings and maps, and those of cgroups: see scope.bpf.h. */

#include "scope.bpf.h"

const volatile __s32 cgroup_ssid = HIERARCHY_V2;
const volatile __s32 limits_ssid = HIERARCHY_NONE;
const volatile __u32 scope_kinds;
const volatile __s32 scope_ssid[SCOPE_HIERARCHIES] = { HIERARCHY_NONE, HIERARCHY_NONE, HIERARCHY_NONE, HIERARCHY_NONE };

struct scope_cgroups_map scope_cgroups SEC(".maps");
struct scope_ids_map scope_pids SEC(".maps");
struct scope_ids_map scope_uids SEC(".maps");
struct limit_cgroups_map limit_cgroups SEC(".maps");
struct cgroup_events_map cgroup_events SEC(".maps");
struct cgroups_reported_map cgroups_reported SEC(".maps");
struct cgroup_moves_map cgroup_moves SEC(".maps");
