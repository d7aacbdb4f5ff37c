/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/parse.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/proto.h"

/* Levels of JSON: files of docker and of bundles have up to 8. */
#define DEPTH_MAX 32

/* --- Reading */

static char *read_file(int fd, size_t size)
{
	char *text = malloc(size + 1);
	size_t used = 0;
	ssize_t got;

	while (text && used < size && (got = pread(fd, text + used, size - used, used)) > 0)
		used += got;
	if (text)
		text[used] = '\0'; /* a file that was cut meanwhile is no JSON */
	return text;
}

static struct json_object *parse(const char *text, size_t len)
{
	struct json_tokener *t = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *o = NULL;

	if (t)
		o = json_tokener_parse_ex(t, text, len);
	if (t)
		json_tokener_free(t);
	return o;
}

static int load(int fd, struct json_object **o)
{
	struct stat st;
	char *text;

	*o = NULL;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 2 || st.st_size > OWNER_BYTES_MAX)
		return -EBADMSG;
	text = read_file(fd, st.st_size);
	if (!text)
		return -ENOMEM;
	*o = parse(text, strlen(text));
	free(text);
	return *o ? 0 : -EBADMSG;
}

/* --- Members; NULL where there is none of that type */

static struct json_object *member(const struct json_object *o, const char *name, enum json_type type)
{
	struct json_object *v = NULL;

	if (!o || !json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, name, &v) ||
	    !json_object_is_type(v, type))
		return NULL;
	return v;
}

static struct json_object *object_in(const struct json_object *o, const char *name)
{
	return member(o, name, json_type_object);
}

static const char *text_in(const struct json_object *o, const char *name)
{
	struct json_object *v = member(o, name, json_type_string);

	return v ? json_object_get_string(v) : NULL;
}

/* --- Names */

static void take(char *to, size_t size, const char *text)
{
	if (text && *text && !*to)
		snprintf(to, size, "%s", text);
}

#define TAKE(to, text) take(to, sizeof(to), text)

/* Reads the names that kubelet gave the runtime, from labels or annotations. */
static void take_kubelet(const struct json_object *o, struct symbols_container *a)
{
	TAKE(a->name, text_in(o, "io.kubernetes.container.name"));
	TAKE(a->pod, text_in(o, "io.kubernetes.pod.name"));
	TAKE(a->name_space, text_in(o, "io.kubernetes.pod.namespace"));
	TAKE(a->pod_uid, text_in(o, "io.kubernetes.pod.uid"));
}

/* The container that only holds a pod's namespaces is called POD by kubelet; containerd does not name it. */
static void take_containerd(const struct json_object *o, struct symbols_container *a)
{
	const char *type = text_in(o, "io.kubernetes.cri.container-type");

	TAKE(a->name, text_in(o, "io.kubernetes.cri.container-name"));
	if (type && !strcmp(type, "sandbox"))
		TAKE(a->name, "POD");
	TAKE(a->image, text_in(o, "io.kubernetes.cri.image-name"));
	TAKE(a->pod, text_in(o, "io.kubernetes.cri.sandbox-name"));
	TAKE(a->name_space, text_in(o, "io.kubernetes.cri.sandbox-namespace"));
	TAKE(a->pod_uid, text_in(o, "io.kubernetes.cri.sandbox-uid"));
}

static int docker(const struct json_object *o, const char *id, struct symbols_container *a)
{
	const struct json_object *config = object_in(o, "Config");
	const char *name = text_in(o, "Name"), *said = text_in(o, "ID");

	if (!json_object_is_type(o, json_type_object))
		return -EBADMSG;
	if (said && strcmp(said, id))
		return -ENOENT;
	take_kubelet(object_in(config, "Labels"), a);
	TAKE(a->name, name && *name == '/' ? name + 1 : name);
	TAKE(a->image, text_in(config, "Image"));
	return 0;
}

static int bundle(const struct json_object *o, struct symbols_container *a)
{
	const struct json_object *annotations = object_in(o, "annotations");

	if (!json_object_is_type(o, json_type_object))
		return -EBADMSG;
	take_kubelet(annotations, a);
	take_containerd(annotations, a);
	TAKE(a->image, text_in(annotations, "io.kubernetes.cri-o.ImageName"));
	TAKE(a->name, text_in(annotations, "nerdctl/name"));
	TAKE(a->host, text_in(o, "hostname"));
	return 0;
}

/* --- Lists */

/* The last list that was read: a host's containers are requested one by one. */
static struct {
	struct stat of;
	struct json_object *list;
} kept;

static bool is_kept(const struct stat *st)
{
	return kept.list && st->st_dev == kept.of.st_dev && st->st_ino == kept.of.st_ino && st->st_size == kept.of.st_size &&
	       st->st_mtim.tv_sec == kept.of.st_mtim.tv_sec && st->st_mtim.tv_nsec == kept.of.st_mtim.tv_nsec &&
	       st->st_ctim.tv_sec == kept.of.st_ctim.tv_sec && st->st_ctim.tv_nsec == kept.of.st_ctim.tv_nsec;
}

static int load_list(int fd)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (is_kept(&st))
		return 0;
	json_object_put(kept.list);
	kept.list = NULL;
	err = load(fd, &kept.list);
	kept.of = st;
	if (!err && !json_object_is_type(kept.list, json_type_array)) {
		json_object_put(kept.list);
		kept.list = NULL;
		err = -EBADMSG;
	}
	return err;
}

/* A list's entry has more names in a text that is JSON itself. */
static void take_metadata(const char *text, struct symbols_container *a)
{
	struct json_object *o = text ? parse(text, strlen(text)) : NULL;

	TAKE(a->image, text_in(o, "image-name"));
	json_object_put(o);
}

static int list(int fd, const char *id, struct symbols_container *a)
{
	int err = load_list(fd);
	size_t nr = err ? 0 : json_object_array_length(kept.list);

	for (size_t i = 0; i < nr; i++) {
		const struct json_object *o = json_object_array_get_idx(kept.list, i), *names;
		const char *said = text_in(o, "id");

		if (!said || strcmp(said, id))
			continue;
		names = member(o, "names", json_type_array);
		if (names && json_object_array_length(names)) {
			struct json_object *first = json_object_array_get_idx(names, 0);

			TAKE(a->name, json_object_is_type(first, json_type_string) ? json_object_get_string(first) : NULL);
		}
		take_metadata(text_in(o, "metadata"), a);
		return 0;
	}
	return err ? err : -ENOENT;
}

int parse_names(int fd, enum owner_format format, const char *id, struct symbols_container *a)
{
	struct json_object *o;
	int err;

	*a->name = *a->image = *a->pod = *a->name_space = *a->pod_uid = *a->host = '\0';
	if (format == OWNER_LIST)
		return list(fd, id, a);
	err = load(fd, &o);
	if (err)
		return err;
	err = format == OWNER_DOCKER ? docker(o, id, a) : format == OWNER_OCI ? bundle(o, a) : -EINVAL;
	json_object_put(o);
	return err;
}
