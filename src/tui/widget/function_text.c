/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/function_text.h"

#include <string.h>

#include "sym/names.h"
#include "tui/input/settings.h"
#include "util/short_name.h"
#include "util/text.h"

void function_text(char *buf, size_t size, const char *name, const struct settings *settings)
{
	char brief[512];

	if (!settings->full_names) {
		short_name(brief, sizeof(brief), name);
		name = brief;
	}
	text_safe(buf, size, name, strlen(name));
}

const char *function_marks(const struct symbol *symbol)
{
	if (!symbol)
		return "{}";
	return symbol->kind == SYMBOL_KERNEL ? "()" : symbol->kind == SYMBOL_JIT ? "<>" : "[]";
}

enum role function_role(const struct symbol *symbol)
{
	if (!symbol)
		return ROLE_TEXT;
	return symbol->kind == SYMBOL_KERNEL ? ROLE_KERNEL : symbol->kind == SYMBOL_JIT ? ROLE_JIT : ROLE_USER;
}
