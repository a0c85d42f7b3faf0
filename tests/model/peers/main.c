/* peers_model: searches the model of peers that share shards; ../README.md says how it is read.
 *
 *	peers_model --all-rules       the worlds of worlds.c; DW_LONG=1: the large ones, too
 *	peers_model --each-rule       each rule left out: its promise must be broken
 *	peers_model --without RULE    prints the shortest trace that breaks its promise
 */
#include <stdio.h>
#include <string.h>

#include "model/peers/worlds.h"
#include "support/environment.h"

static int usage(void)
{
	fprintf(stderr, "usage: peers_model --all-rules | --each-rule | --without RULE\n");
	return 2;
}

int main(int count, char **values)
{
	if (count == 2 && strcmp(values[1], "--all-rules") == 0)
		return series_all_rules(&worlds_series, environment_number("DW_LONG", 0) != 0) ? 0
											       : 1;
	if (count == 2 && strcmp(values[1], "--each-rule") == 0)
		return series_each_rule(&worlds_series) ? 0 : 1;
	if (count == 3 && strcmp(values[1], "--without") == 0 &&
	    series_show(&worlds_series, values[2]))
		return 0;
	return usage();
}
