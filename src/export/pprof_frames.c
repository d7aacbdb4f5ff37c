/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a pprof profile that samples refer to: strings, functions, mappings and locations. */
#include <string.h>

#include "export/pprof_internal.h"
#include "export/redact.h"
#include "query/source.h"
#include "query/stack_walk.h"
#include "sym/names.h"
#include "util/text.h"

int64_t pprof_string(struct pprof *p, const char *text)
{
	uint64_t key = key_of(ITEM_STRING, hash_text(0, text));
	int64_t index = known(&p->indexes, key);
	char *copy;

	if (index >= 0)
		return index;
	copy = NEW_ITEM(p, strings, nr_strings, strings_room, strlen(text) + 1);
	if (!copy)
		return 0;
	strcpy(copy, text);
	remember(p, &p->indexes, key, p->nr_strings - 1);
	return p->nr_strings - 1;
}

int64_t pprof_safe_string(struct pprof *p, const char *text, size_t len)
{
	char safe[4096];

	text_safe(safe, sizeof(safe), text, len);
	return pprof_string(p, safe);
}

/* --- Locations of frames. Ids are index + 1. */

static uint64_t function_of(struct pprof *p, const char *name)
{
	int64_t text = pprof_safe_string(p, name, strlen(name)), index;
	uint64_t key = key_of(ITEM_FUNCTION, text);
	PB(Function) *f;

	index = known(&p->indexes, key);
	if (index >= 0)
		return index + 1;
	f = NEW_ITEM(p, functions, nr_functions, functions_room, sizeof(*f));
	if (!f)
		return 0;
	*f = (PB(Function))PB_INIT(FUNCTION);
	f->id = p->nr_functions;
	f->name = f->system_name = text;
	remember(p, &p->indexes, key, p->nr_functions - 1);
	return f->id;
}

/* @build_id: "-": none. The limits tell pprof that all addresses are inside, and that none needs relocation. */
static PB(Mapping) *mapping_of(struct pprof *p, const char *name, const char *build_id)
{
	int64_t file = pprof_safe_string(p, name, strlen(name)), id = *build_id == '-' ? 0 : pprof_string(p, build_id);
	uint64_t key = hash_add(key_of(ITEM_MAPPING, file), id);
	int64_t index = known(&p->indexes, key);
	PB(Mapping) *m;

	if (index >= 0)
		return p->mappings[index];
	m = NEW_ITEM(p, mappings, nr_mappings, mappings_room, sizeof(*m));
	if (!m)
		return NULL;
	*m = (PB(Mapping))PB_INIT(MAPPING);
	m->id = p->nr_mappings;
	m->memory_limit = UINT64_MAX;
	m->filename = file;
	m->build_id = id;
	m->has_functions = true; /* until a frame has no function */
	remember(p, &p->indexes, key, p->nr_mappings - 1);
	return m;
}

static struct location *location_new(struct pprof *p, uint64_t key)
{
	struct location *l;

	if (p->nr_locations >= p->locations_max)
		return NULL;
	l = NEW_ITEM(p, locations, nr_locations, locations_room, sizeof(*l));
	if (!l)
		return NULL;
	l->pb = (PB(Location))PB_INIT(LOCATION);
	l->pb.id = p->nr_locations;
	l->line = (PB(Line))PB_INIT(LINE);
	l->list = &l->line;
	l->pb.line = &l->list;
	remember(p, &p->indexes, key, p->nr_locations - 1);
	return l;
}

/* A location in a file is identified without its name, which may be resolved later. */
static uint64_t location_in_file(struct pprof *p, const struct frame_place *file, uint64_t frame, const struct symbol *s)
{
	struct location *l;
	PB(Mapping) *m;
	int64_t index;
	char id[80], path[512], name[512];
	uint64_t key;

	p->source->build_id(p->source->arg, frame, id, sizeof(id));
	m = mapping_of(p, redact_module(p->redact, file->path, path, sizeof(path)), id);
	if (!m)
		return 0;
	key = hash_add(key_of(ITEM_LOCATION, m->id), file->address);
	index = known(&p->indexes, key);
	l = index >= 0 ? p->locations[index] : location_new(p, key);
	if (!l)
		return 0;
	l->pb.mapping_id = m->id;
	l->pb.address = file->address;
	if (s && (s->named || s->function) && (!l->pb.n_line || (s->named && !l->named))) {
		l->line.function_id = function_of(p, redact_function(p->redact, s, name, sizeof(name)));
		l->pb.n_line = 1;
		l->named = s->named;
	}
	return l->pb.id;
}

uint64_t pprof_location_by_name(struct pprof *p, const char *name, const char *module)
{
	const PB(Mapping) *m = module ? mapping_of(p, module, "-") : NULL;
	uint64_t key = hash_add(key_of(ITEM_LOCATION_BY_NAME, m ? m->id : 0), hash_text(0, name));
	int64_t index = known(&p->indexes, key);
	struct location *l;

	if (index >= 0)
		return index + 1;
	l = location_new(p, key);
	if (!l)
		return 0;
	l->pb.mapping_id = m ? m->id : 0;
	l->line.function_id = function_of(p, name);
	l->pb.n_line = 1;
	l->named = true;
	return l->pb.id;
}

uint64_t pprof_location(struct pprof *p, const struct stack_walk *w)
{
	uint64_t key = hash_add(key_of(ITEM_FRAME, w->frame), w->frame & FRAME_ANONYMOUS ? w->tgid : 0), id;
	int64_t index = w->mark ? -1 : known(&p->in_refresh, key);
	char name[512], module[512];
	const struct symbol *s;
	struct frame_place file;

	if (w->mark)
		return pprof_location_by_name(p, w->mark, NULL);
	if (index >= 0)
		return index + 1;
	s = stack_walk_symbol(w);
	if (p->source->place(p->source->arg, w->frame, &file))
		id = location_in_file(p, &file, w->frame, s);
	else
		id = pprof_location_by_name(p, s ? redact_function(p->redact, s, name, sizeof(name)) : "?",
				      s && w->frame != FRAME_GAP
					      ? redact_module(p->redact, s->module, module, sizeof(module)) : NULL);
	if (id)
		remember(p, &p->in_refresh, key, id - 1);
	return id;
}
