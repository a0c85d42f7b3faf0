/* question: the command line of a model. It asks for the searches of the tests, or for one search
 * of its own:
 *
 *	MODEL --all-rules             the worlds of worlds.c; DW_LONG=1: the large ones, too
 *	MODEL --each-rule             each rule left out: its promise must be broken
 *	MODEL [--world N] [--OPTION N]... [--FLAG]... [--without RULE]... [--limit N]
 *
 * The last form prints the shortest trace that breaks each promise. */
#ifndef MODEL_SEARCH_QUESTION_H
#define MODEL_SEARCH_QUESTION_H

#include <stddef.h>

#include "model/search/series.h"

/* An option sets a field of the model to a number, or a flag to true. */
struct question_option {
	const char *name;
	uint8_t *number;
	bool *flag;
};

struct question {
	const char *program;
	const struct series *series;
	struct model *model;
	uint32_t *rules; /* of the model */
	const struct question_option *options;
	size_t option_count;
	uint8_t most; /* the largest number of an option */
	/* The model of a world of worlds.c, which must be named first; false: there is none. NULL:
	 * the options say all. */
	bool (*world)(unsigned number, struct model *ret_model);
	/* Do these numbers fit into a state? NULL: they always do. */
	bool (*fits)(const struct model *);
	struct found (*search)(const struct model *, struct search *);
	uint32_t limit; /* of states, unless --limit says another */
};

/* question_answer returns the exit status: 1 if a promise is broken, 2 if the words are wrong. */
int question_answer(const struct question *, int count, char **values);

#endif
