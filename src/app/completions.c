/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/completions.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "app/options.h"
#include "export/exporter.h"
#include "tui/input/views.h"
#include "tui/term/theme.h"
#include "tui/widget/columns.h"

/* Paths of --list-cgroups, one per line. */
#define CGROUPS_COMMAND "systop --list-cgroups 2>/dev/null | sed \"1d; s/^[^ ]* *[^ ]* *//\" | sort -u"

static void put_columns(FILE *to)
{
	for (int f = 0; f < METRIC_COUNT; f++)
		if (metrics[f].drop)
			fprintf(to, "%s ", metrics[f].name);
	for (enum column_id id = COLUMN_METRICS; id < COLUMN_COUNT; id++)
		if (column_sorts(id))
			fprintf(to, "%s ", column_info(id).name);
	fputs("help", to);
}

static void put_themes(FILE *to)
{
	for (int i = 0; theme_builtin(i); i++)
		fprintf(to, "%s%s", i ? " " : "", theme_builtin(i));
}

/* Values of an option: fixed words, or what the host has. */
static const struct operand {
	const char *option;
	const char *words;           /* NULL: from put() or the list, or from the shell's own completion below */
	void (*put)(FILE *to);
	const char *(*list)(int n);  /* NULL: @n is out of range */
	const char *bash, *zsh, *fish;
} operands[] = {
	{ "cgroup", .bash = "$(" CGROUPS_COMMAND ")", .zsh = "_systop_cgroups",
	  .fish = "(" CGROUPS_COMMAND ")" },
	{ "pid", .bash = "$(cd /proc && compgen -G '[0-9]*')", .zsh = "_pids",
	  .fish = "(__fish_complete_pids)" },
	{ "user", .bash = "$(compgen -u)", .zsh = "_users", .fish = "(__fish_complete_users)" },
	{ "sort", .put = put_columns },
	{ "clock", .words = "cycles cpu" },
	{ "color", .words = "auto always never" },
	{ "theme", .put = put_themes, .zsh = "_systop_themes" },
	{ "view", .words = &VIEW_NAMES[1] },
	{ "completions", .words = "bash zsh fish" },
};

/* Valid until the next call. */
static const struct operand *operand_of(const struct argp_option *o)
{
	const struct exporter *e = options_exporter(o);
	static struct operand of_exporter;

	for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++)
		if (!strcmp(operands[i].option, o->name))
			return &operands[i];
	of_exporter.list = e ? e->word : NULL;
	return of_exporter.list ? &of_exporter : NULL;
}

static void put_words(FILE *to, const struct operand *operand)
{
	for (int i = 0; operand->list && operand->list(i); i++)
		fprintf(to, "%s%s", i ? " " : "", operand->list(i));
	if (operand->words)
		fputs(operand->words, to);
	else if (operand->put)
		operand->put(to);
}

/* A text within single quotes; @special: characters that get a backslash, too. */
static void put_quoted(FILE *to, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", to);
		else
			fprintf(to, "%s%c", strchr(special, *text) ? "\\" : "", *text);
	}
}

/* Whether an option's operand can be a file, which the shell completes. */
static bool is_path(const struct argp_option *o)
{
	return o->arg && (!strcmp(o->arg, "FILE") || !strcmp(o->arg, "DIR") || !strcmp(o->name, "theme"));
}

static bool is_short(const struct argp_option *o)
{
	return o->key > ' ' && o->key < 127;
}

/* --- bash */

static void bash_operands(FILE *to)
{
	for (const struct argp_option *o = options_table(); o->name || o->doc; o++) {
		const struct operand *operand = o->name && o->arg ? operand_of(o) : NULL;

		if (!o->name || !o->arg)
			continue;
		fputs("\t", to);
		if (is_short(o))
			fprintf(to, "-%c|", o->key);
		fprintf(to, "--%s) ", o->name);
		if (is_path(o))
			fputs("compopt -o default 2>/dev/null; ", to);
		if (operand && operand->bash) {
			fprintf(to, "words=%s ;;\n", operand->bash);
		} else if (operand) {
			fputs("words='", to);
			put_words(to, operand);
			fputs("'; words=${words// /$'\\n'} ;;\n", to);
		} else {
			fputs("return ;;\n", to);
		}
	}
}

static void bash_print(FILE *to)
{
	fputs("# bash completion of systop\n"
	      "_systop()\n"
	      "{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words word quoted i IFS=$'\\n'\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\t[[ ${COMP_WORDS[i]} == -- ]] || continue\n"
	      "\t\tif declare -F _command_offset >/dev/null; then\n"
	      "\t\t\t_command_offset $((i + 1))\n"
	      "\t\telse\n"
	      "\t\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\tdone\n"
	      "\t# --color=auto comes as three words\n"
	      "\tif [[ $cur == = ]]; then\n"
	      "\t\tcur=\n"
	      "\telif [[ $prev == = ]]; then\n"
	      "\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\tfi\n"
	      "\tcase $prev in\n",
	      to);
	bash_operands(to);
	fputs("\t*) words='", to);
	for (const struct argp_option *o = options_table(); o->name || o->doc; o++)
		if (o->name)
			fprintf(to, "--%s\n", o->name);
	fputs("' ;;\n"
	      "\tesac\n"
	      "\t# not compgen -W, which would expand names of cgroups, and run commands in them\n"
	      "\twhile read -r word; do\n"
	      "\t\tprintf -v quoted %q \"$word\"\n"
	      "\t\t[[ $word && ($word == \"$cur\"* || $quoted == \"$cur\"*) ]] && COMPREPLY+=(\"$quoted\")\n"
	      "\tdone <<<\"$words\"\n"
	      "}\n"
	      "complete -F _systop systop\n",
	      to);
}

/* --- zsh */

static void zsh_option(FILE *to, const struct argp_option *o)
{
	const struct operand *operand = o->arg ? operand_of(o) : NULL;

	if (is_short(o))
		fprintf(to, "\t\t'*'{-%c%s,--%s%s}'[", o->key, o->arg ? "+" : "", o->name, o->arg ? "=" : "");
	else
		fprintf(to, "\t\t'%s--%s%s[", strstr(o->doc, "(repeatable") ? "*" : "", o->name, o->arg ? "=" : "");
	put_quoted(to, o->doc, "[]:\\");
	fputs("]", to);
	if (o->arg) {
		fputs(":", to);
		put_quoted(to, o->arg, ":\\");
		fputs(":", to);
		if (operand && operand->zsh) {
			fputs(operand->zsh, to);
		} else if (operand) {
			fputs("(", to);
			put_words(to, operand);
			fputs(")", to);
		} else {
			fputs(is_path(o) ? "_files" : " ", to);
		}
	}
	fputs("' \\\n", to);
}

static void zsh_print(FILE *to)
{
	fputs("#compdef systop\n"
	      "_systop_cgroups()\n"
	      "{\n"
	      "\tlocal -a paths=(${(f)\"$(" CGROUPS_COMMAND ")\"})\n"
	      "\tcompadd -a paths\n"
	      "}\n"
	      "_systop_themes()\n"
	      "{\n"
	      "\tcompadd ",
	      to);
	put_themes(to);
	fputs("\n"
	      "\t_files\n"
	      "}\n"
	      "_systop()\n"
	      "{\n"
	      "\t_arguments -s -S \\\n",
	      to);
	for (const struct argp_option *o = options_table(); o->name || o->doc; o++)
		if (o->name)
			zsh_option(to, o);
	fputs("\t\t'*::command:_normal'\n"
	      "}\n"
	      "if [[ ${funcstack[1]} == _systop ]]; then\n"
	      "\t_systop \"$@\"\n"
	      "else\n"
	      "\tcompdef _systop systop\n"
	      "fi\n",
	      to);
}

/* --- fish */

static void fish_print(FILE *to)
{
	fputs("# fish completion of systop\n"
	      "complete -c systop -f\n"
	      "complete -c systop -n 'contains -- -- (commandline -opc)' -a '(__fish_complete_subcommand --commandline (commandline -opc | sed \"1,/^--\\$/d\") (commandline -ct))'\n",
	      to);
	for (const struct argp_option *o = options_table(); o->name || o->doc; o++) {
		const struct operand *operand = o->name && o->arg ? operand_of(o) : NULL;

		if (!o->name)
			continue;
		fputs("complete -c systop", to);
		if (is_short(o))
			fprintf(to, " -s %c", o->key);
		fprintf(to, " -l %s%s -d '", o->name, is_path(o) ? " -r -F" : o->arg ? " -x" : "");
		put_quoted(to, o->doc, "\\");
		fputs("'", to);
		if (operand) {
			fputs(" -a '", to);
			if (operand->fish)
				put_quoted(to, operand->fish, "");
			else
				put_words(to, operand);
			fputs("'", to);
		}
		fputs("\n", to);
	}
}

int completions_print(FILE *to, const char *shell)
{
	static const struct {
		const char *name;
		void (*print)(FILE *to);
	} shells[] = {
		{ "bash", bash_print },
		{ "zsh", zsh_print },
		{ "fish", fish_print },
	};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].name, shell))
			continue;
		if (to)
			shells[i].print(to);
		return 0;
	}
	return -ENOENT;
}
