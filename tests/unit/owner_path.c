/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What follows from a cgroup's path: paths as systemd, runtimes and kubelet make them. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/owner.h"
#include "model/tick.h"
#include "proc/owner_path.h"

#define ID "3f2a91c04b7e5d6c8f9012ab34cd56ef78901234567890abcdef0123456789ab"
#define ID2 "b7e5d6c8f9012ab34cd56ef78901234567890abcdef0123456789ab3f2a91c04"
#define SHORT "3f2a91c04b7e"
#define SHORT2 "b7e5d6c8f901"
#define UID_ "0f3c1b9e_6d9b_4c63_8a3f_2f6b3f4f1a77"
#define UID "0f3c1b9e-6d9b-4c63-8a3f-2f6b3f4f1a77"
#define HASH "8b2f0c4d6e8a1b3c5d7e9f0a1b2c3d4e"
#define CRI "cri-containerd"

/* The cgroups of a path, the last one first. */
struct chain {
	struct cgroup *cgroups;
	size_t nr;
};

static struct chain chain_of(const char *path)
{
	struct chain c = { calloc(64, sizeof(*c.cgroups)), 0 };

	assert_non_null(c.cgroups);
	for (size_t len = strlen(path); len > (size_t)(strchr(path, '/') - path) + 1; c.nr++) {
		char *part = strndup(path, len);

		c.cgroups[c.nr].path = part;
		cgroup_own(&c.cgroups[c.nr], owner_of_path(part));
		c.cgroups[c.nr].parent = &c.cgroups[c.nr + 1];
		while (path[--len] != '/')
			;
	}
	c.cgroups[c.nr++].path = strdup("/");
	return c;
}

static void chain_free(struct chain *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		cgroup_own(&c->cgroups[i], NULL);
		free((char *)c->cgroups[i].path);
	}
	free(c->cgroups);
}

static const char *or_none(const char *s)
{
	return s ? s : "-";
}

/* "-": none */
static const struct {
	const char *path, *unit, *container, *pod, *text;
} paths[] = {
	/* systemd, the system's units */
	{ "/", "-", "-", "-", "-" },
	{ "/init.scope", "init.scope", "-", "-", "init.scope" },
	{ "/system.slice", "system.slice", "-", "-", "system.slice" },
	{ "/system.slice/ssh.service", "ssh.service", "-", "-", "ssh" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "-", "-", "getty@tty1" },
	{ "/system.slice/system-postgresql.slice/postgresql@15-main.service", "postgresql@15-main.service", "-", "-",
	  "postgresql@15-main" },
	{ "/system.slice/system-systemd\\x2dfsck.slice/systemd-fsck@dev-disk-by\\x2duuid-7C2A\\x2d11EE.service",
	  "systemd-fsck@dev-disk-by-uuid-7C2A-11EE.service", "-", "-", "systemd-fsck@dev-disk-by-uuid-7C2A-11EE" },
	{ "/system.slice/system-systemd\\x2dfsck.slice", "system-systemd-fsck.slice", "-", "-", "system-systemd-fsck.slice" },
	{ "/system.slice/dev-hugepages.mount", "dev-hugepages.mount", "-", "-", "dev-hugepages.mount" },
	{ "/system.slice/dbus.socket", "dbus.socket", "-", "-", "dbus.socket" },
	{ "/system.slice/dev-zram0.swap", "dev-zram0.swap", "-", "-", "dev-zram0.swap" },
	{ "/system.slice/run-r1a2b3c.scope", "run-r1a2b3c.scope", "-", "-", "run-r1a2b3c.scope" },
	{ "/system.slice/systemd-udevd.service/udev", "systemd-udevd.service", "-", "-", "systemd-udevd" },
	{ "/system.slice/snap.lxd.daemon.service", "snap.lxd.daemon.service", "-", "-", "snap.lxd.daemon" },
	{ "/workload.slice/workload-batch.slice/job.service", "job.service", "-", "-", "job" },
	{ "cpu:/system.slice/ssh.service", "ssh.service", "-", "-", "ssh" },
	{ "/web/api", "-", "-", "-", "-" },
	{ "/.service", "-", "-", "-", "-" },
	{ "/system.slice/\\x00.service", "\\x00.service", "-", "-", "\\x00" },
	/* sessions and users' units */
	{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "-", "-", "session-3.scope" },
	{ "/user.slice/user-0.slice/session-c1.scope", "session-c1.scope", "-", "-", "session-c1.scope" },
	{ "/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope", "-", "-", "init.scope" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/syncthing.service", "syncthing.service", "-", "-",
	  "syncthing" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-google\\x2dchrome-2345.scope",
	  "app-gnome-google-chrome-2345.scope", "-", "-", "app-gnome-google-chrome-2345.scope" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-flatpak-org.mozilla.firefox-3141.scope",
	  "app-flatpak-org.mozilla.firefox-3141.scope", "-", "-", "app-flatpak-org.mozilla.firefox-3141.scope" },
	{ "/user.slice/user-1000.slice/user@1000.service/session.slice/dbus-broker.service", "dbus-broker.service", "-",
	  "-", "dbus-broker" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte-spawn-0f3c1b9e.scope",
	  "vte-spawn-0f3c1b9e.scope", "-", "-", "vte-spawn-0f3c1b9e.scope" },
	{ "/user.slice/user-1000.slice", "user-1000.slice", "-", "-", "user-1000.slice" },
	/* docker */
	{ "/docker/" ID, "-", SHORT, "-", SHORT },
	{ "/docker/" ID "/init", "-", SHORT, "-", SHORT },
	{ "/system.slice/docker-" ID ".scope", "-", SHORT, "-", SHORT },
	{ "/system.slice/docker-" ID ".scope/system.slice/nginx.service", "nginx.service", SHORT, "-", SHORT },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope", "user@1000.service", SHORT,
	  "-", SHORT },
	{ "/docker/" ID "/docker/" ID2, "-", SHORT2, "-", SHORT2 },
	{ "/system.slice/docker.service", "docker.service", "-", "-", "docker" },
	{ "/docker", "-", "-", "-", "-" },
	{ "/docker/buildx", "-", "-", "-", "-" },
	{ "/actions_job/" ID, "-", SHORT, "-", SHORT },
	{ "/ecs/0f3c1b9e6d9b4c638a3f2f6b3f4f1a77/" ID, "-", SHORT, "-", SHORT },
	/* Kubernetes: systemd's driver */
	{ "/kubepods.slice", "kubepods.slice", "-", "-", "kubepods.slice" },
	{ "/kubepods.slice/kubepods-besteffort.slice", "kubepods-besteffort.slice", "-", "-", "kubepods-besteffort.slice" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice", "-", "-", UID, UID },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice", "-", "-", UID, UID },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/" CRI "-" ID ".scope",
	  "-", SHORT, UID, UID },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID ".scope",
	  "-", SHORT, UID, UID },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID ".scope/container",
	  "-", SHORT, UID, UID },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-conmon-" ID ".scope",
	  "crio-conmon-" ID ".scope", "-", UID, UID },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/docker-" ID ".scope",
	  "-", SHORT, UID, UID },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" HASH ".slice/" CRI "-" ID ".scope",
	  "-", SHORT, HASH, HASH },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod" UID_
	  ".slice/" CRI "-" ID ".scope", "-", SHORT, UID, UID },
	{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:" CRI ":" ID,
	  "containerd.service", SHORT, UID, UID },
	{ "/system.slice/kubelet.service", "kubelet.service", "-", "-", "kubelet" },
	/* Kubernetes: cgroupfs */
	{ "/kubepods/pod" UID "/" ID, "-", SHORT, UID, UID },
	{ "/kubepods/burstable/pod" UID "/" ID, "-", SHORT, UID, UID },
	{ "/kubepods/besteffort/pod" UID, "-", "-", UID, UID },
	{ "/kubepods/burstable/pod" HASH "/" ID, "-", SHORT, HASH, HASH },
	{ "/kubepods/burstable/podcast", "-", "-", "-", "-" },
	/* kind, docker in docker */
	{ "/docker/" ID2 "/kubelet/kubepods/burstable/pod" UID "/" ID, "-", SHORT, UID, UID },
	{ "/system.slice/docker-" ID2 ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_ ".slice/" CRI
	  "-" ID ".scope",
	  "-", SHORT, UID, UID },
	{ "/kubepods/burstable/pod" UID "/" ID "/docker/" ID2, "-", SHORT2, UID, UID },
	/* podman */
	{ "/machine.slice/libpod-" ID ".scope", "-", SHORT, "-", SHORT },
	{ "/machine.slice/libpod-" ID ".scope/container", "-", SHORT, "-", SHORT },
	{ "/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope", "-", "-", "libpod-conmon-" ID ".scope" },
	{ "/libpod_parent/libpod-" ID, "-", SHORT, "-", SHORT },
	{ "/system.slice/web.service/libpod-payload-" ID, "web.service", SHORT, "-", SHORT },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
	  "user@1000.service", SHORT, "-", SHORT },
	{ "/machine.slice/machine-libpod_pod_" ID2 ".slice", "-", "-", SHORT2, SHORT2 },
	{ "/machine.slice/machine-libpod_pod_" ID2 ".slice/libpod-" ID ".scope", "-", SHORT, SHORT2, SHORT2 },
	{ "/libpod_parent/" ID2, "-", "-", SHORT2, SHORT2 },
	{ "/libpod_parent/" ID2 "/libpod-" ID, "-", SHORT, SHORT2, SHORT2 },
	{ "/libpod_parent/conmon", "-", "-", "-", "-" },
	/* LXC, nspawn, libvirt */
	{ "/lxc/web", "-", "web", "-", "web" },
	{ "/lxc/web/init.scope", "init.scope", "web", "-", "web" },
	{ "/lxc.payload.web/system.slice/cron.service", "cron.service", "web", "-", "web" },
	{ "/lxc.payload/web", "-", "web", "-", "web" },
	{ "/lxc.monitor.web", "-", "-", "-", "-" },
	{ "/lxc/101/ns", "-", "101", "-", "101" },
	{ "/machine.slice/systemd-nspawn@web.service/payload", "systemd-nspawn@web.service", "web", "-", "web" },
	{ "/machine.slice/machine-build\\x2dbox.scope", "-", "build-box", "-", "build-box" },
	{ "/machine.slice/machine-qemu\\x2d1\\x2dvm1.scope/libvirt/emulator", "-", "qemu-1-vm1", "-", "qemu-1-vm1" },
	{ "/machine/vm1.libvirt-qemu", "-", "vm1", "-", "vm1" },
	/* names and ids that a user, or what runs in a container, makes up */
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/x.slice:docker:payments", "app.slice", "-", "-", "app.slice" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/x.slice:docker:" ID, "user@1000.service", SHORT, "-", SHORT },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/machine-db.scope", "machine-db.scope", "-", "-", "machine-db.scope" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/systemd-nspawn@db.service", "systemd-nspawn@db.service", "-", "-",
	  "systemd-nspawn@db" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/lxc.payload.db", "app.slice", "-", "-", "app.slice" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/lxc/db", "app.slice", "-", "-", "app.slice" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/db.libvirt-qemu", "app.slice", "-", "-", "app.slice" },
	{ "/docker/" ID "/x.slice:docker:payments", "-", SHORT, "-", SHORT },
	{ "/docker/" ID "/a/b/machine-db.scope", "machine-db.scope", SHORT, "-", SHORT },
	{ "/system.slice/docker-" ID ".scope/systemd-nspawn@db.service", "systemd-nspawn@db.service", SHORT, "-", SHORT },
	{ "/lxc.payload.web/lxc.payload.db", "-", "web", "-", "web" },
	{ "/lxc/lxc/db", "-", "lxc", "-", "lxc" },
	{ "/machine.slice/systemd-nspawn@web.service/payload/db.libvirt-lxc", "systemd-nspawn@web.service", "web", "-", "web" },
	/* almost */
	{ "/docker/3f2a91c04b7e", "-", "-", "-", "-" },
	{ "/system.slice/docker-" ID "0.scope", "docker-" ID "0.scope", "-", "-", "docker-" ID "0.scope" },
	{ "/a-pod" UID, "-", "-", "-", "-" },
	{ "/kubepods.slice/kubepods-pod1.slice", "kubepods-pod1.slice", "-", "-", "kubepods-pod1.slice" },
	{ "/x.slice:cri:", "-", "-", "-", "-" },
	{ "/x.slice:cri:" ID "0", "-", "-", "-", "-" },
};

TEST(owner_path, says_what_people_call_it)
{
	FOR_EACH(p, paths) {
		struct chain c = chain_of(p->path);
		const char *of_unit = or_none(owner_unit(c.cgroups)), *of_container = or_none(owner_container(c.cgroups));
		const char *of_pod = or_none(owner_pod(c.cgroups)), *text = or_none(owner_text(c.cgroups));

		if (strcmp(of_unit, p->unit) || strcmp(of_container, p->container) || strcmp(of_pod, p->pod) || strcmp(text, p->text))
			fail_msg("%s: unit %s, container %s, pod %s, text %s", p->path, of_unit, of_container, of_pod, text);
		chain_free(&c);
	}
}

static void check_record(const char *path, enum owner_kind kind, uint32_t user, const char *runtime, const char *id)
{
	struct owner *o = owner_of_path(path);

	assert_non_null(o);
	assert_int_equal(o->kind, kind);
	assert_int_equal(o->user, user);
	assert_string_equal(or_none(o->runtime), runtime);
	assert_string_equal(or_none(o->container_id ? o->container_id : o->pod_id), id);
	free(o);
}

TEST(owner_path, keeps_the_kind_the_runtime_and_the_id)
{
	check_record("/system.slice/ssh.service", OWNER_UNIT, OWNER_SYSTEM, "-", "-");
	check_record("/user.slice/user-1000.slice/user@1000.service/app.slice/a.service", OWNER_UNIT, 1000, "-", "-");
	check_record("/user.slice/user-1000.slice/user@1000.service", OWNER_UNIT, OWNER_SYSTEM, "-", "-");
	check_record("/user.slice/user-1000.slice/user@1000x.service/a.service", OWNER_UNIT, OWNER_SYSTEM, "-", "-");
	check_record("/user.slice/user-1000.slice/session-3.scope", OWNER_SESSION, OWNER_SYSTEM, "-", "-");
	check_record("/system.slice", OWNER_SLICE, OWNER_SYSTEM, "-", "-");
	check_record("/docker/" ID, OWNER_CONTAINER, OWNER_SYSTEM, "docker", ID);
	check_record("/system.slice/docker-" ID ".scope", OWNER_CONTAINER, OWNER_SYSTEM, "docker", ID);
	check_record("/kubepods.slice/kubepods-pod" UID_ ".slice", OWNER_POD, OWNER_SYSTEM, "-", UID);
	check_record("/kubepods/burstable/pod" UID "/" ID, OWNER_CONTAINER, OWNER_SYSTEM, "-", ID);
	check_record("/machine.slice/libpod-" ID ".scope", OWNER_CONTAINER, OWNER_SYSTEM, "libpod", ID);
	check_record("/system.slice/web.service/libpod-payload-" ID, OWNER_CONTAINER, OWNER_SYSTEM, "libpod", ID);
	check_record("/lxc/web", OWNER_CONTAINER, OWNER_SYSTEM, "lxc", "-");
}

/* A cgroup's name has up to 255 bytes, of any kind but '/' and NUL. */
TEST(owner_path, takes_any_bytes)
{
	char path[4096] = "/";

	memset(path + 1, 'x', 255);
	memcpy(path + 256 - 8, ".service", 9);
	free(owner_of_path(path));
	memset(path + 1, '\\', 255);
	memcpy(path + 256 - 6, ".slice", 7);
	free(owner_of_path(path));
	memset(path + 1, 'x', 4000);
	assert_null(owner_of_path(path));
	assert_null(owner_of_path(""));
	assert_null(owner_of_path("no slash.service"));
	free(owner_of_path("/\xff\xfe\x1b[2J.service"));
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(owner_path_says_what_people_call_it),
		  cmocka_unit_test(owner_path_keeps_the_kind_the_runtime_and_the_id),
		  cmocka_unit_test(owner_path_takes_any_bytes));
}
