/* failover_model: searches the model of a failover; ../README.md says how it is read, and
 * ../search/question.h how it is asked. */
#include "model/failover/promises.h"
#include "model/failover/worlds.h"
#include "model/search/question.h"

#define LIMIT_MAX 20u

int main(int count, char **values)
{
	struct model model = {0};
	const struct question_option options[] = {
	    {"--failovers", &model.limits.failovers, NULL},
	    {"--ticks", &model.limits.ticks, NULL},
	    {"--answers", &model.limits.answers, NULL},
	    {"--acquires", &model.limits.acquires, NULL},
	    {"--delays", &model.limits.delays, NULL},
	    {"--resets", &model.limits.resets, NULL},
	    {"--restarts", &model.limits.restarts, NULL},
	    {"--kills", &model.limits.kills, NULL},
	    {"--puts", &model.limits.puts, NULL},
	    {"--cancels", &model.limits.cancels, NULL},
	    {"--live", &model.is_live, NULL},
	    {"--k", &model.k, NULL},
	    {"--voters", &model.voters, NULL},
	    {"--lease", &model.lease, NULL},
	    {"--ageless", &model.is_ageless, NULL},
	    {"--timer", &model.has_timer, NULL},
	    {"--third", &model.has_third, NULL},
	    {"--settles", &model.settles, NULL},
	    {"--strict", &model.strict, NULL},
	    {"--absent", &model.absent, NULL},
	};

	return question_answer(&(struct question){.program = "failover_model",
						  .series = &worlds_series,
						  .model = &model,
						  .rules = &model.rules,
						  .options = options,
						  .option_count = sizeof options / sizeof *options,
						  .world = worlds_model,
						  .search = worlds_search,
						  .most = LIMIT_MAX,
						  .limit = WORLD_LIMIT},
			       count, values);
}
