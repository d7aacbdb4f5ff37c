/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of container runtimes: as they write them, and as nobody should. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helper/proto.h"
#include "owner/parse.h"
#include "util/clock.h"

#define ID "3f2a91c04b7e5d6c8f9012ab34cd56ef78901234567890abcdef0123456789ab"

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("config", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	return fd;
}

static int read_bytes(enum owner_format format, const void *bytes, size_t size, struct symbols_container *a)
{
	int fd = file_of(bytes, size), err = parse_names(fd, format, ID, a);

	close(fd);
	return err;
}

/* "name|image|namespace|pod|uid", or the error. */
static const char *names_in(enum owner_format format, const char *text)
{
	static struct symbols_container a;
	static char said[1200];
	int err = read_bytes(format, text, strlen(text), &a);

	if (err)
		snprintf(said, sizeof(said), "%s", err == -ENOENT ? "not there" : err == -EBADMSG ? "bad" : "error");
	else
		snprintf(said, sizeof(said), "%s|%s|%s|%s|%s", a.name, a.image, a.name_space, a.pod, a.pod_uid);
	return said;
}

static const struct {
	enum owner_format format;
	const char *text, *names;
} files[] = {
	{ OWNER_DOCKER, "{\"ID\":\"" ID "\",\"Name\":\"/web\",\"Config\":{\"Image\":\"nginx:1.25\",\"Labels\":{"
			"\"com.docker.compose.service\":\"web\"}}}", "web|nginx:1.25|||" },
	{ OWNER_DOCKER, "{\"ID\":\"" ID
	  "\",\"Name\":\"/k8s_api_api-7f9c_shop_0f3c_0\",\"Config\":{\"Image\":\"sha256:1\",\"Labels\":{"
			"\"io.kubernetes.container.name\":\"api\",\"io.kubernetes.pod.name\":\"api-7f9c\","
			"\"io.kubernetes.pod.namespace\":\"shop\",\"io.kubernetes.pod.uid\":\"0f3c\"}}}",
	  "api|sha256:1|shop|api-7f9c|0f3c" },
	{ OWNER_DOCKER, "{\"ID\":\"b7e5\",\"Name\":\"/other\"}", "not there" },
	{ OWNER_DOCKER, "{\"Name\":\"web\"}", "web||||" },
	{ OWNER_DOCKER, "{}", "||||" },
	{ OWNER_DOCKER, "[1, 2]", "bad" },
	{ OWNER_OCI, "{\"ociVersion\":\"1.0.2\",\"annotations\":{\"io.kubernetes.cri.container-name\":\"api\","
		     "\"io.kubernetes.cri.container-type\":\"container\","
		     "\"io.kubernetes.cri.image-name\":\"docker.io/shop/api:7\","
		     "\"io.kubernetes.cri.sandbox-name\":\"api-7f9c\",\"io.kubernetes.cri.sandbox-namespace\":\"shop\","
		     "\"io.kubernetes.cri.sandbox-uid\":\"0f3c\"}}", "api|docker.io/shop/api:7|shop|api-7f9c|0f3c" },
	{ OWNER_OCI,
	  "{\"annotations\":{\"io.kubernetes.cri.container-type\":\"sandbox\",\"io.kubernetes.cri.sandbox-name\":\"api-7f9c\","
		     "\"io.kubernetes.cri.sandbox-namespace\":\"shop\"}}", "POD||shop|api-7f9c|" },
	{ OWNER_OCI,
	  "{\"annotations\":{\"io.kubernetes.container.name\":\"api\",\"io.kubernetes.cri-o.ImageName\":\"quay.io/shop/api:7\","
		     "\"io.kubernetes.pod.name\":\"api-7f9c\",\"io.kubernetes.pod.namespace\":\"shop\"}}",
	  "api|quay.io/shop/api:7|shop|api-7f9c|" },
	{ OWNER_OCI, "{\"annotations\":{\"nerdctl/name\":\"web\",\"nerdctl/namespace\":\"default\"}}", "web||||" },
	{ OWNER_OCI,
	  "{\"annotations\":{\"io.container.manager\":\"libpod\",\"io.podman.annotations.autoremove\":\"FALSE\"}}", "||||" },
	{ OWNER_OCI, "{\"ociVersion\":\"1.0.2\"}", "||||" },
	{ OWNER_LIST, "[{\"id\":\"b7e5\",\"names\":[\"other\"]},{\"id\":\"" ID "\",\"names\":[\"web\",\"alias\"],"
		      "\"metadata\":\"{\\\"image-name\\\":\\\"localhost/web:1\\\",\\\"name\\\":\\\"web\\\"}\"}]",
	  "web|localhost/web:1|||" },
	{ OWNER_LIST, "[{\"id\":\"" ID "\",\"names\":[],\"metadata\":\"not JSON\"}]", "||||" },
	{ OWNER_LIST, "[]", "not there" },
	{ OWNER_LIST, "{\"id\":\"" ID "\"}", "bad" },
	/* wrong types */
	{ OWNER_DOCKER, "{\"ID\":7,\"Name\":[\"/web\"],\"Config\":\"x\"}", "||||" },
	{ OWNER_DOCKER, "{\"Name\":\"/web\",\"Config\":{\"Image\":{},\"Labels\":[]}}", "web||||" },
	{ OWNER_OCI, "{\"annotations\":[\"io.kubernetes.container.name\"]}", "||||" },
	{ OWNER_OCI, "{\"annotations\":{\"io.kubernetes.container.name\":null,\"io.kubernetes.pod.name\":1}}", "||||" },
	{ OWNER_OCI, "null", "bad" },
	{ OWNER_LIST, "[1,null,[],{\"id\":1},{\"id\":\"" ID "\",\"names\":[{}],\"metadata\":{}}]", "||||" },
	/* no JSON */
	{ OWNER_DOCKER, "{\"Name\":\"/web\"", "bad" },
	{ OWNER_DOCKER, "Name: web", "bad" },
	{ OWNER_DOCKER, "{\"Name\":", "bad" },
	{ OWNER_LIST, "[{\"id\":\"" ID "\"", "bad" },
	{ OWNER_FORMATS, "{}", "error" },
};

TEST(owner_parse, takes_the_names_that_are_there)
{
	FOR_EACH(f, files) {
		const char *names = names_in(f->format, f->text);

		if (strcmp(names, f->names))
			fail_msg("%s: %s instead of %s", f->text, names, f->names);
	}
}

/* Names are raw bytes: whoever shows them makes them safe. */
TEST(owner_parse, passes_any_bytes_on_and_cuts_long_names)
{
	static char text[5000], want[256];
	static struct symbols_container a;

	assert_string_equal(names_in(OWNER_DOCKER, "{\"Name\":\"/\xff\xfe\\u001b[2J\"}"), "\xff\xfe\x1b[2J||||");
	assert_string_equal(names_in(OWNER_DOCKER, "{\"Name\":\"/a\\u0000b\"}"), "a||||");
	memset(want, 'x', sizeof(want) - 1);
	snprintf(text, sizeof(text), "{\"Name\":\"/%0*d\"}", 4000, 0);
	memset(text + 10, 'x', 4000);
	assert_int_equal(read_bytes(OWNER_DOCKER, text, strlen(text), &a), 0);
	assert_string_equal(a.name, want);
}

static void check_refused(enum owner_format format, const char *bytes, size_t size)
{
	static struct symbols_container a;
	uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	assert_true(read_bytes(format, bytes, size, &a) < 0);
	assert_true(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before < 1000000000);
	assert_true(!*a.name && !*a.image && !*a.pod && !*a.name_space && !*a.pod_uid && !*a.host);
}

TEST(owner_parse, refuses_what_is_too_much)
{
	size_t size = OWNER_BYTES_MAX;
	char *bytes = malloc(size + 1);

	assert_non_null(bytes);
	check_refused(OWNER_DOCKER, "", 0);
	check_refused(OWNER_DOCKER, "{", 1);
	memset(bytes, '[', size);
	check_refused(OWNER_LIST, bytes, size); /* deep */
	memset(bytes, ' ', size + 1);
	check_refused(OWNER_OCI, bytes, size);
	check_refused(OWNER_OCI, bytes, size + 1);
	memset(bytes, 0, size);
	check_refused(OWNER_OCI, bytes, size);
	free(bytes);
}

/* A list is read once for all of a host's containers, and again when it has changed. */
TEST(owner_parse, keeps_a_list_until_it_changes)
{
	static const char before[] = "[{\"id\":\"" ID "\",\"names\":[\"web\"]}]";
	static const char after[] = "[{\"id\":\"" ID "\",\"names\":[\"api\"]}]";
	static struct symbols_container a;
	int fd = file_of(before, strlen(before));

	assert_int_equal(parse_names(fd, OWNER_LIST, ID, &a), 0);
	assert_string_equal(a.name, "web");
	assert_int_equal(parse_names(fd, OWNER_LIST, "b7e5", &a), -ENOENT);
	assert_string_equal(a.name, "");
	usleep(20000); /* the file's time has the kernel's resolution */
	assert_int_equal(pwrite(fd, after, strlen(after), 0), strlen(after));
	assert_int_equal(parse_names(fd, OWNER_LIST, ID, &a), 0);
	assert_string_equal(a.name, "api");
	close(fd);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(owner_parse_takes_the_names_that_are_there),
		  cmocka_unit_test(owner_parse_passes_any_bytes_on_and_cuts_long_names),
		  cmocka_unit_test(owner_parse_refuses_what_is_too_much),
		  cmocka_unit_test(owner_parse_keeps_a_list_until_it_changes));
}
