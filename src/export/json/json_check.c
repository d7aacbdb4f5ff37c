/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "export/json/json_text.h"
#include "model/check.h"

static void put_line(struct json *j, const struct check_line *l)
{
	json_open(j, NULL, '{');
	json_string(j, "name", l->name);
	if (l->ok == CHECK_FACT)
		json_null(j, "ok");
	else
		json_boolean(j, "ok", l->ok == CHECK_YES);
	json_boolean(j, "needed", l->needed);
	json_foreign(j, "text", l->text ? l->text : "");
	json_foreign(j, "reason", l->reason);
	json_foreign(j, "fix", l->fix);
	json_close(j, '}');
}

int json_check(FILE *to, const struct checks *c, const char *version, const struct utsname *uts)
{
	struct json *j = calloc(1, sizeof(*j));
	int err;

	if (!j)
		return -ENOMEM;
	j->to = to;
	json_open(j, NULL, '{');
	json_number(j, "schema", JSON_CHECK_SCHEMA);
	json_string(j, "version", version);
	json_foreign(j, "host", uts->nodename);
	json_foreign(j, "kernel", uts->release);
	json_foreign(j, "machine", uts->machine);
	json_boolean(j, "ok", !c->status);
	json_number(j, "exit_status", c->status);
	json_open(j, "checks", '[');
	for (size_t i = 0; i < c->nr; i++)
		if (c->lines[i].json)
			put_line(j, &c->lines[i]);
	json_close(j, ']');
	json_close(j, '}');
	err = json_end(j);
	free(j);
	return err;
}

/* Every property of json_check(). All are required, and there are no others. */
static const char *const properties[] = {
	"\"schema\": {\"type\": \"integer\", \"description\": \"version of this schema\"}",
	"\"version\": {\"type\": \"string\", \"description\": \"of systop\"}",
	"\"host\": {\"type\": \"string\"}",
	"\"kernel\": {\"type\": \"string\", \"description\": \"its release\"}",
	"\"machine\": {\"type\": \"string\", \"description\": \"its architecture\"}",
	"\"ok\": {\"type\": \"boolean\", \"description\": \"systop can run here\"}",
	"\"exit_status\": {\"type\": \"integer\", \"minimum\": 0, \"description\": \"of --check, and of systop here and now\"}",
	"\"checks\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/check\"}}",
	NULL
}, *const check_properties[] = {
	"\"name\": {\"type\": \"string\", \"description\": \"as in the table of --check; several checks can have one name\"}",
	"\"ok\": {\"type\": [\"boolean\", \"null\"], \"description\": \"null: a fact, neither right nor wrong, or not checked\"}",
	"\"needed\": {\"type\": \"boolean\", \"description\": \"systop cannot run without it\"}",
	"\"text\": {\"type\": \"string\", \"description\": \"what it is, or what it is for\"}",
	"\"reason\": {\"type\": [\"string\", \"null\"], \"description\": \"why it is not ok, or was not checked\"}",
	"\"fix\": {\"type\": [\"string\", \"null\"], \"description\": \"a command or a setting that helps\"}",
	NULL
};

/* An object with these properties, which begin with their quoted names. */
static void put_object(FILE *to, const char *const *of, const char *indent)
{
	fprintf(to, "%s\"type\": \"object\",\n%s\"additionalProperties\": false,\n%s\"required\": [", indent, indent, indent);
	for (int i = 0; of[i]; i++)
		fprintf(to, "%s%.*s", i ? ", " : "", (int)strcspn(of[i], ":"), of[i]);
	fprintf(to, "],\n%s\"properties\": {\n", indent);
	for (int i = 0; of[i]; i++)
		fprintf(to, "%s  %s%s\n", indent, of[i], of[i + 1] ? "," : "");
	fprintf(to, "%s}", indent);
}

void json_check_schema(FILE *to)
{
	fputs("{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n  \"title\": \"systop --check --json\",\n", to);
	put_object(to, properties, "  ");
	fputs(",\n  \"definitions\": {\n    \"check\": {\n", to);
	put_object(to, check_properties, "      ");
	fputs("\n    }\n  }\n}\n", to);
}
