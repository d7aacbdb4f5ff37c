/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "tui/screen/screen_state.h"
#include "util/text.h"

#define LEAP 10 /* refreshes per step */

/* Characters of user names that the filter takes literally. */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

bool screen_searching(struct screen *s)
{
	return *s->search && screen_here(s)->view->search;
}

int screen_places(struct screen *s)
{
	if (s->overlay)
		return IN_TEXT;
	if (s->menu.kind)
		return IN_TABLES;
	return 1 << screen_here(s)->id | (screen_searching(s) ? IN_SEARCH : 0);
}

/* Columns that actions sort by. */
static const unsigned int sorted_by[ACTION_NONE] = {
	[ACTION_SORT_RUN] = METRIC_RUN, [ACTION_SORT_MAX] = METRIC_RUNQ_MAX, [ACTION_SORT_P99] = METRIC_RUNQ_P99,
	[ACTION_SORT_D] = METRIC_D,     [ACTION_SORT_TIME] = COLUMN_CPU_TIME,
	[ACTION_SORT_MEMORY] = COLUMN_MEMORY, [ACTION_SORT_ID] = COLUMN_ID,
};

static const char *const command_notes[CMDLINE_FORMS] = {
	[CMDLINE_NAME] = "COMM: names as the kernel has them",
	[CMDLINE_LINE] = "COMMAND: command lines",
	[CMDLINE_MERGED] = "COMMAND: command lines, and names where they differ",
};

static void open_menu(struct screen *s, const struct menu_kind *kind)
{
	const struct open_view *p = screen_here(s);

	s->overlay = OVERLAY_NONE;
	s->menu.table = p->view->table ? p->view->table(p->state) : TABLE_THREADS;
	menu_open(&s->menu, kind);
}

/* Asks for a line of text. */
static void ask(struct screen *s, enum action a)
{
	char text[64];

	s->asks = a;
	if (a == ACTION_SEARCH) {
		snprintf(s->search_before, sizeof(s->search_before), "%s", s->search);
		prompt_open(&s->prompt, "/", "");
	} else if (a == ACTION_FILTER) {
		prompt_open(&s->prompt, "filter: ", s->filter_text);
	} else {
		settings_print_delay(s->settings.delay_ns, text, sizeof(text));
		prompt_open(&s->prompt, "refresh every (0.1 to 60 s): ", text);
		s->prompt.replaced = true;
	}
}

static void toggle_overlay(struct screen *s, enum overlay overlay)
{
	s->overlay = s->overlay == overlay ? OVERLAY_NONE : overlay;
	s->overlay_pager = (struct pager){ 0 };
	menu_close(&s->menu);
}

static void clear_all(struct screen *s)
{
	struct filter_error error;

	*s->search = '\0';
	screen_filter(s, "", &error);
}

static bool is_user_term(const char *word, size_t len)
{
	return len > 5 && !strncmp(word, "user", 4) && (word[4] == '=' || word[4] == ':');
}

/* Shows only what belongs to the chosen user: a term of the filter, which replaces an earlier user term. */
static void take_user(struct screen *s)
{
	const struct menu_user *u = s->menu.chosen > 0 ? &s->menu.users[s->menu.chosen - 1] : NULL;
	char text[sizeof(s->filter_text) + sizeof(u->name) + sizeof(" user=")] = "";
	struct filter_error error;

	if (s->menu.chosen < 0)
		return;
	s->menu.chosen = -1;
	for (const char *at = s->filter_text; *(at += strspn(at, " ")); at += strcspn(at, " ")) {
		size_t len = strcspn(at, " ");

		if (!is_user_term(at, len))
			text_add(text, sizeof(text), "%s%.*s", *text ? " " : "", (int)len, at);
	}
	if (u && strspn(u->name, NAME_CHARACTERS) == strlen(u->name))
		text_add(text, sizeof(text), "%suser=%s", *text ? " " : "", u->name);
	else if (u) /* the name has characters of the filter's language */
		text_add(text, sizeof(text), "%suser=%u", *text ? " " : "", u->uid);
	if (strlen(text) >= sizeof(s->filter_text) || !screen_filter(s, text, &error))
		screen_notice(s, "the filter would be too long: = clears it");
}

/* Offers the action to the view. Returns whether the view handled it. */
static bool act_here(struct screen *s, enum action a, uint64_t now_ns)
{
	struct view_context c;

	if (s->overlay || !s->shown)
		return false;
	c = screen_context(s, now_ns);
	return screen_here(s)->view->act(screen_here(s)->state, a, &c);
}

/* Moves to the next (1) or previous (-1) match of the search; 0: the text is being typed. */
static void search(struct screen *s, int direction, uint64_t now_ns)
{
	struct view_context c;

	if (!s->shown || !screen_searching(s))
		return;
	c = screen_context(s, now_ns);
	screen_here(s)->view->search(screen_here(s)->state, direction, &c);
}

/* Handles actions that show a base view. */
static bool act_on_bases(struct screen *s, enum action a, uint64_t now_ns)
{
	int i = 0;

	while (i < VIEW_BASES && screen_views[i].action != a)
		i++;
	if (i < VIEW_BASES)
		screen_go_to(s, i, now_ns);
	return i < VIEW_BASES;
}

/* Saves the selected time, or everything. */
static void save(struct screen *s, uint64_t now_ns)
{
	const struct open_view *p = screen_here(s);
	uint64_t from = 0, until = 0;
	struct view_context c;

	if (s->shown && p->view->selected_time) {
		c = screen_context(s, now_ns);
		if (!p->view->selected_time(p->state, &c, &from, &until))
			from = until = 0;
	}
	s->host->save(s->host->arg, from, until, s->notice, sizeof(s->notice));
}

/* Handles actions that are the same in every view. */
static void act_everywhere(struct screen *s, enum action a, uint64_t now_ns)
{
	switch (a) {
	case ACTION_HELP:
	case ACTION_HEALTH:
		toggle_overlay(s, a == ACTION_HELP ? OVERLAY_HELP : OVERLAY_HEALTH);
		break;
	case ACTION_BACK:
		screen_back(s);
		break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		screen_go_to(s, s->current + (a == ACTION_NEXT ? 1 : -1), now_ns);
		break;
	case ACTION_MATCH_NEXT:
	case ACTION_MATCH_PREV:
		search(s, a == ACTION_MATCH_NEXT ? 1 : -1, now_ns);
		break;
	case ACTION_PAUSE:
		screen_pause(s);
		break;
	case ACTION_STEP_BACK:
	case ACTION_STEP_ON:
		screen_step(s, a == ACTION_STEP_ON ? 1 : -1);
		break;
	case ACTION_LEAP_BACK:
	case ACTION_LEAP_ON:
		screen_step(s, a == ACTION_LEAP_ON ? LEAP : -LEAP);
		break;
	case ACTION_SEARCH:
	case ACTION_FILTER:
	case ACTION_DELAY:
		ask(s, a);
		break;
	case ACTION_USER:
		if (s->shown)
			menu_open_users(&s->menu, s->shown, s->host->user_name);
		break;
	case ACTION_CLEAR:
		clear_all(s);
		break;
	case ACTION_KTHREADS:
		s->settings.hide_kthreads = !s->settings.hide_kthreads;
		break;
	case ACTION_IDLE:
		s->settings.hide_idle = !s->settings.hide_idle;
		break;
	case ACTION_SORT_MENU:
	case ACTION_OPTIONS:
		open_menu(s, a == ACTION_OPTIONS ? &menu_options : &menu_sort);
		break;
	case ACTION_SORT_RUN ... ACTION_SORT_ID:
		s->settings.sorting.by = sorted_by[a];
		s->settings.sorting.inverted = false;
		break;
	case ACTION_COMMAND:
		s->settings.sorting.form = (s->settings.sorting.form + 1) % CMDLINE_FORMS;
		screen_notice(s, command_notes[s->settings.sorting.form]);
		break;
	case ACTION_UNITS:
		s->settings.units = (s->settings.units + 1) % UNITS_COUNT;
		break;
	case ACTION_MOUSE:
		s->settings.mouse = !s->settings.mouse;
		screen_notice(s, s->settings.mouse ? "mouse on: click selects, again opens; titles sort"
						   : "mouse off: the terminal selects text");
		break;
	case ACTION_SAVE:
		save(s, now_ns);
		break;
	case ACTION_WRITE:
		s->host->write_config(s->host->arg, &s->settings, s->notice, sizeof(s->notice));
		break;
	default:
		if (!act_on_bases(s, a, now_ns) && s->shown)
			screen_open(s, a, now_ns);
	}
}

/* Brings the view up to date, as keys can come faster than drawings, and rows of an earlier refresh are gone. Returns
 * whether the view is visible: keys do not act on what cannot be seen. */
static bool ready(struct screen *s, uint64_t now_ns)
{
	if (!s->paint || screen_too_small(s->paint))
		return false;
	screen_update(s, now_ns);
	s->changed = true;
	return true;
}

static void act(struct screen *s, enum action a, uint64_t now_ns)
{
	bool closes = s->menu.kind && (a == ACTION_BACK || a == ACTION_CLOSE); /* also if the terminal is too small */

	if ((s->overlay && pager_act(&s->overlay_pager, a, NULL)) || (!ready(s, now_ns) && !closes))
		return;
	if (s->menu.kind && menu_act(&s->menu, a)) {
		take_user(s);
		return;
	}
	if (s->menu.kind && (a == ACTION_NONE || !(actions[a].places & IN_TEXT))) /* it acts on the table that the menu hides */
		return;
	if (a == ACTION_BACK && s->host->save_cancel(s->host->arg, s->notice, sizeof(s->notice)))
		return;
	if (!act_here(s, a, now_ns))
		act_everywhere(s, a, now_ns);
}

/* --- Keys */

/* Each typed character takes effect at once; the cursor goes to the first match from its old place. */
static void search_typed(struct screen *s, uint64_t now_ns)
{
	snprintf(s->search, sizeof(s->search), "%s", s->prompt.text);
	search(s, 0, now_ns);
}

/* Takes the text of the prompt. Returns false, with the error in the prompt, if it is wrong. */
static bool answered(struct screen *s)
{
	struct prompt *p = &s->prompt;
	struct filter_error error;

	if (s->asks == ACTION_FILTER && !screen_filter(s, p->text, &error)) {
		snprintf(p->error, sizeof(p->error), "%s", error.what);
		p->error_column = error.column;
		return false;
	}
	if (s->asks == ACTION_DELAY && *p->text && settings_delay(&s->settings, p->text)) {
		snprintf(p->error, sizeof(p->error), "expected 0.1 to 60 seconds: 2, 0.5 or 500ms");
		p->error_column = 0;
		return false;
	}
	if (s->asks == ACTION_SEARCH && !*p->text) /* like less: repeats the previous search */
		snprintf(s->search, sizeof(s->search), "%s", s->search_before);
	return true;
}

static void cancel_prompt(struct screen *s)
{
	if (s->asks == ACTION_SEARCH)
		snprintf(s->search, sizeof(s->search), "%s", s->search_before);
	s->prompt.title = NULL;
}

static void prompt_typed(struct screen *s, wint_t key, bool is_code, uint64_t now_ns)
{
	bool search = s->asks == ACTION_SEARCH;

	if (!ready(s, now_ns)) { /* an invisible prompt still takes all keys */
		if (prompt_closes(key, is_code))
			cancel_prompt(s);
		return;
	}
	switch (prompt_key(&s->prompt, key, is_code)) {
	case PROMPT_TYPING:
		if (search)
			search_typed(s, now_ns);
		return;
	case PROMPT_CANCELLED:
		cancel_prompt(s);
		break;
	case PROMPT_DONE:
		if (!answered(s))
			return;
		s->prompt.title = NULL;
	}
}

enum screen_verdict screen_key(struct screen *s, wint_t key, bool is_code, uint64_t now_ns)
{
	enum action a;

	if (s->prompt.title) { /* a notice stays: it may have come while the user types */
		prompt_typed(s, key, is_code, now_ns);
		return SCREEN_GO_ON;
	}
	s->notice[0] = '\0';
	if (!is_code && key > 127)
		return SCREEN_GO_ON;
	a = keymap_action(&s->settings.keymap, key, screen_places(s));
	switch (a) {
	case ACTION_QUIT:
		return SCREEN_QUIT;
	case ACTION_CLOSE:
		if (s->menu.kind) {
			act(s, a, now_ns);
			return SCREEN_GO_ON;
		}
		s->changed = true;
		return screen_back(s) ? SCREEN_GO_ON : SCREEN_QUIT;
	case ACTION_SUSPEND:
		return SCREEN_SUSPEND;
	case ACTION_REDRAW:
		return SCREEN_REDRAW;
	default:
		act(s, a, now_ns);
		return SCREEN_GO_ON;
	}
}

void screen_mouse(struct screen *s, enum screen_mouse what, int y, int x, uint64_t now_ns)
{
	const struct open_view *p = screen_here(s);
	struct view_context c;

	if (s->prompt.title) /* it takes keys only */
		return;
	s->notice[0] = '\0';
	if (what != MOUSE_CLICK) {
		act(s, what == MOUSE_WHEEL_UP ? ACTION_UP : ACTION_DOWN, now_ns);
		return;
	}
	if (!ready(s, now_ns) || !s->shown || s->overlay || s->menu.kind || !p->view->click)
		return;
	c = screen_context(s, now_ns);
	if (y >= c.top && y < c.top + c.height && p->view->click(p->state, &c, y, x))
		screen_open(s, ACTION_ENTER, now_ns);
}
