/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "owner/places.h"
#include "sym/debug_folders.h"
#include "sym/inside.h"
#include "sym/roles.h"
#include "util/clock.h"
#include "util/file.h"

/* The kernel's packed form: 12 bits of major, 20 of minor. */
static bool same_device(dev_t dev, uint32_t kernel)
{
	return major(dev) == kernel >> 20 && minor(dev) == (kernel & 0xfffff);
}

/* Whether it is the file that was mapped. */
static bool is_file(int fd, const struct file_key *key)
{
	struct stat st;

	return file_is(fd, key->inode, key->size, key->mtime_s, &st) && same_device(st.st_dev, key->device);
}

/* On these file systems, stat() reports another device than the kernel has. */
static bool has_own_device(int fd)
{
	struct statfs fs;

	return file_is_overlay(fd) || (!fstatfs(fd, &fs) && fs.f_type == BTRFS_SUPER_MAGIC);
}

/* --- Mapped files */

static bool is_asked(int fd, const void *arg)
{
	const struct open_request *r = arg;

	return is_file(fd, &r->key);
}

/* Looks at what is mapped there now, and reports that the process was inspected. */
static int look_mapped(int socket, const struct open_request *r)
{
	struct open_answer found = { .id = r->id, .found = OPEN_FOUND };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%lx-%lx", r->tgid, (unsigned long)r->start,
		 (unsigned long)r->end);
	fd = open(path, FILE_LOOK);
	helper_send(socket, &found, sizeof(found), -1);
	return fd;
}

/* Looks at the path that was found through the mapping before. */
static int look_path(const struct open_request *r)
{
	int fd = r->path[0] == '/' ? open(r->path, FILE_LOOK | O_NOFOLLOW) : -1;

	if (fd >= 0 && !is_file(fd, &r->key))
		file_close(&fd);
	return fd;
}

/* Path of an open file, as its process sees it. */
static void path_of(int fd, char *buf, size_t size)
{
	char link[32];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, buf, size - 1);
	buf[len > 0 ? len : 0] = '\0';
}

/* The vDSO is the same in every process, including this one. */
static int open_vdso(void)
{
	const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	size_t size;
	int fd;

	if (!image) {
		errno = ENOENT;
		return -1;
	}
	size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
		close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

/*
 * The mapping itself also leads to deleted files and to those of containers. If the process has ended, or its file is on an
 * overlay, which can give it another number, its path inside its file system leads to it. A file on another device with the
 * number of the mapped one does not count, unless the file system has devices of its own: whoever mounts a tmpfs can make such
 * a file.
 */
static int open_mapped(int socket, const struct open_request *r, struct open_answer *a)
{
	bool own_device;
	int mapped, seen = -1;
	struct stat st;

	if (r->key.device == FILE_VDSO)
		return open_vdso();
	mapped = look_mapped(socket, r);
	own_device = mapped >= 0 && has_own_device(mapped);
	if (mapped >= 0 && is_file(mapped, &r->key))
		seen = mapped;
	if (seen >= 0 || own_device)
		path_of(mapped, a->path, sizeof(a->path));
	if (seen < 0)
		seen = inside_look(r->key.device, r->inside, is_asked, r);
	if (seen < 0 && own_device && file_is(mapped, r->key.inode, r->key.size, r->key.mtime_s, &st))
		seen = mapped;
	if (seen < 0)
		seen = look_path(r);
	if (mapped != seen)
		file_close(&mapped);
	if (seen < 0) {
		errno = ESTALE;
		return -1;
	}
	if (!*a->path)
		path_of(seen, a->path, sizeof(a->path));
	return file_open_seen(seen);
}

/* --- Debug information */

/* Whether @fd can be debug information of @of: a regular file that root or the owner of @of made, on the same mount, unless it
 * is in a system folder of the host or container (@anywhere). It must not be @of itself, which can have the name that it gives
 * its debug information. */
static bool belongs(int fd, int of, bool anywhere)
{
	struct statx a, b;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_UID | STATX_INO | STATX_MNT_ID, &a) || !S_ISREG(a.stx_mode) ||
	    statx(of, "", AT_EMPTY_PATH, STATX_UID | STATX_INO | STATX_MNT_ID, &b))
		return false;
	if (a.stx_ino == b.stx_ino && a.stx_dev_major == b.stx_dev_major && a.stx_dev_minor == b.stx_dev_minor)
		return false;
	return (!a.stx_uid || a.stx_uid == b.stx_uid) && (anywhere || a.stx_mnt_id == b.stx_mnt_id);
}

/* Place @nr of a file's debug information, in gdb's order. An empty path: does not apply to this file. */
static void debug_place(const struct open_request *r, const char *folder, uint32_t nr, char *path, size_t size)
{
	char hex[2 * sizeof(r->build_id) + 1] = "";

	*path = '\0';
	for (uint32_t i = 0; i < r->build_id_bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", r->build_id[i]);
	if (!nr && r->build_id_bytes > 1)
		snprintf(path, size, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	else if (nr && *r->debuglink && *folder == '/')
		snprintf(path, size, "%s%s/%s%s", nr == 3 ? "/usr/lib/debug" : "", folder, nr == 2 ? ".debug/" : "", r->debuglink);
}

#define PLACES 4

/* Reports that only these places can delay the request now: their file systems may differ from the file's. Returns whether they
 * are to be searched. */
static bool begin_places(int socket, const struct open_request *r, enum open_found where)
{
	struct open_answer found = { .id = r->id, .found = where };

	if (r->skip & 1U << where)
		return false;
	helper_send(socket, &found, sizeof(found), -1);
	return true;
}

/* Places under /usr/lib/debug, where the file determines only the name. */
static bool is_systems(uint32_t nr)
{
	return nr == 0 || nr == 3;
}

/* Whether both are the same folder on the same mount, so that all below them is the same. */
static bool is_same_folder(const char *one, const char *other)
{
	struct statx a, b;

	return !statx(AT_FDCWD, one, 0, STATX_INO | STATX_MNT_ID, &a) &&
	       !statx(AT_FDCWD, other, 0, STATX_INO | STATX_MNT_ID, &b) && a.stx_ino == b.stx_ino &&
	       a.stx_mnt_id == b.stx_mnt_id;
}

/* Looks at the remaining places below a root; @first is the number of its first place. */
static int look_usual(const struct open_request *r, int of, const char *root, uint32_t *attempt, uint32_t first)
{
	char path[1024], folder[768], *name;

	path_of(of, folder, sizeof(folder));
	name = strrchr(folder, '/');
	if (name)
		*name = '\0';
	for (; *attempt < first + PLACES; ++*attempt) {
		uint32_t nr = *attempt - first;
		int found;

		debug_place(r, folder, nr, path, sizeof(path));
		found = *path ? file_look_below(root, path, 0, RESOLVE_IN_ROOT) : -1;
		if (found >= 0 && belongs(found, of, is_systems(nr)))
			return found;
		file_close(&found);
	}
	return -1;
}

/* The places are numbered in this order: below the host's root, in the invoker's folders, and last below the process's root, as
 * root of a container can name functions there for all containers with the same file. */
#define FOLDERS_FIRST PLACES
#define ROOT_FIRST (FOLDERS_FIRST + DEBUG_FOLDERS_MAX * DEBUG_FOLDER_PLACES)

static int look_host(int socket, const struct open_request *r, int of, uint32_t *attempt)
{
	if (*attempt >= FOLDERS_FIRST || !begin_places(socket, r, OPEN_FOUND_HOST))
		return -1;
	return look_usual(r, of, "/", attempt, 0);
}

static int look_folders(int socket, const struct open_request *r, uint32_t *attempt)
{
	uint32_t place = *attempt > FOLDERS_FIRST ? *attempt - FOLDERS_FIRST : 0;
	int seen;

	if (*attempt >= ROOT_FIRST || !begin_places(socket, r, OPEN_FOUND_FOLDERS))
		return -1;
	seen = debug_folders_look(r, &place);
	*attempt = FOLDERS_FIRST + place;
	return seen;
}

static int look_root(int socket, const struct open_request *r, int of, uint32_t *attempt)
{
	char root[32];

	snprintf(root, sizeof(root), "/proc/%u/root", r->tgid);
	if (*attempt < ROOT_FIRST)
		*attempt = ROOT_FIRST;
	if (!begin_places(socket, r, OPEN_FOUND_ROOT) || is_same_folder(root, "/"))
		return -1;
	return look_usual(r, of, root, attempt, ROOT_FIRST);
}

/* The file that debug information is asked for; -1: it is gone. The process in which it was met first can have ended, or run
 * another program since. */
static int look_asked(int socket, const struct open_request *r)
{
	int of = look_mapped(socket, r);

	if (of >= 0 && !has_own_device(of) && !is_file(of, &r->key))
		file_close(&of);
	if (of < 0)
		of = inside_look(r->key.device, r->inside, is_asked, r);
	return of < 0 ? look_path(r) : of;
}

/* A file that is gone, with its process, can have debug information in the folders. */
static int open_debug(int socket, const struct open_request *r, struct open_answer *a)
{
	int of, seen = -1;

	if (r->build_id_bytes > sizeof(r->build_id) || strchr(r->debuglink, '/')) {
		errno = EINVAL;
		return -1;
	}
	a->attempt = r->attempt;
	of = look_asked(socket, r);
	if (of >= 0)
		seen = look_host(socket, r, of, &a->attempt);
	if (seen < 0)
		seen = look_folders(socket, r, &a->attempt);
	if (seen < 0 && of >= 0)
		seen = look_root(socket, r, of, &a->attempt);
	file_close(&of);
	errno = ENOENT;
	return seen < 0 ? -1 : file_open_seen(seen);
}

/* --- Symbols written by a JIT compiler */

/* The process's PID in its own namespace, and its effective user. */
static bool process_status(uint32_t tgid, uint32_t *inner, uint32_t *uid)
{
	FILE *f = file_open("/proc/%u/status", tgid);
	bool found = false;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "Uid: %*u %u", uid);
		if (!strncmp(line, "NSpid:", 6)) {
			*inner = strtoul(strrchr(line, '\t') + 1, NULL, 10);
			found = true;
		}
	}
	if (f)
		fclose(f);
	return found;
}

/* Whether a file has not changed since before a process began: it is of an earlier process with this PID, as containers have
 * the same PIDs each time. A second is added for differences between the clocks. */
static bool is_older(const struct stat *st, uint32_t tgid)
{
	uint64_t booted = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME), ticks = 0;
	uint64_t changed = st->st_ctim.tv_sec * 1000000000ULL + st->st_ctim.tv_nsec;
	char line[512], *end;

	file_line(line, sizeof(line), "/proc/%u/stat", tgid);
	end = strrchr(line, ')');
	if (!end || sscanf(end, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64, &ticks) != 1)
		return false; /* it has ended */
	return changed + 1000000000 < booted + ticks * 1000000000 / sysconf(_SC_CLK_TCK);
}

/* Anyone can write to /tmp: the file is trusted only if it belongs to the process's user, and is neither a link nor
 * mounted there. */
static int open_perf_map(const struct open_request *r)
{
	uint32_t inner, uid = UINT32_MAX;
	char root[64], name[64];
	int folder, seen;
	struct stat st;

	if (!process_status(r->tgid, &inner, &uid)) {
		errno = ESRCH;
		return -1;
	}
	snprintf(root, sizeof(root), "/proc/%u/root", r->tgid);
	snprintf(name, sizeof(name), "perf-%u.map", inner);
	folder = file_look_below(root, "tmp", O_DIRECTORY, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	if (folder < 0)
		return -1;
	seen = file_look_in(folder, name, O_NOFOLLOW, RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
	close(folder);
	if (seen >= 0 && (fstat(seen, &st) || st.st_uid != uid)) {
		close(seen);
		errno = EPERM;
		return -1;
	}
	if (seen >= 0 && is_older(&st, r->tgid)) {
		close(seen);
		errno = ENOENT; /* this process may write one later */
		return -1;
	}
	return seen < 0 ? -1 : file_open_seen(seen);
}

/* --- Names of containers and pods */

static int open_container(const struct open_request *r, struct open_answer *a)
{
	a->attempt = r->attempt;
	return owner_look(r->path, &a->attempt);
}

/* The answer comes last: by then no file system can delay anything. */
static void hand_over(int peer, const struct open_request *r, int fd, struct open_answer *a)
{
	struct handed_file h = { .what = r->what, .file = r->id };
	int sent;

	if (fd < 0) {
		a->err = errno ? -errno : -EIO;
		if (a->err == -EAGAIN) /* somebody has a lease on it; -EAGAIN would mean that the peer's queue is full */
			a->err = -EBUSY;
		return;
	}
	sent = helper_send(peer, &h, sizeof(h), fd);
	a->err = sent < 0 ? sent : 0;
	close(fd);
}

void open_run(int socket)
{
	int peer = -1, passed;
	struct open_request r;

	while (helper_receive(socket, &r, sizeof(r), &passed) == sizeof(r)) {
		struct open_answer a = { .id = r.id };
		int fd;

		if (r.what == OPEN_PEER) {
			file_close(&peer);
			peer = passed;
			continue;
		}
		file_close(&passed);
		r.path[sizeof(r.path) - 1] = r.inside[sizeof(r.inside) - 1] = r.debuglink[sizeof(r.debuglink) - 1] = '\0';
		if (r.what == OPEN_POD) {
			a.err = owner_pod_folder(r.path, a.path, sizeof(a.path));
			helper_send(socket, &a, sizeof(a), -1);
			continue;
		}
		fd = r.what == OPEN_DEBUG       ? open_debug(socket, &r, &a)
		     : r.what == OPEN_PERF_MAP  ? open_perf_map(&r)
		     : r.what == OPEN_CONTAINER ? open_container(&r, &a)
						: open_mapped(socket, &r, &a);
		hand_over(peer, &r, fd, &a);
		helper_send(socket, &a, sizeof(a), -1);
	}
}
