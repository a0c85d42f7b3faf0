/* owners_model: searches the model of the ownership of a shard; ../README.md says how it is read,
 * and ../search/question.h how it is asked. */
#include "model/owners/promises.h"
#include "model/owners/worlds.h"
#include "model/search/question.h"

#define LIMIT_MAX 4u

int main(int count, char **values)
{
	struct model model = {0};
	const struct question_option options[] = {
	    {"--faults", &model.limits.faults, NULL},     {"--saves", &model.limits.saves, NULL},
	    {"--releases", &model.limits.releases, NULL}, {"--puts", &model.limits.puts, NULL},
	    {"--cancels", &model.limits.cancels, NULL},   {"--nexts", &model.limits.nexts, NULL},
	    {"--jumps", &model.limits.jumps, NULL},       {"--permits", &model.permits, NULL},
	    {"--gives", &model.limits.gives, NULL},       {"--losses", &model.limits.losses, NULL},
	    {"--behind", NULL, &model.is_behind},         {"--long", NULL, &model.is_long},
	};

	return question_answer(&(struct question){.program = "owners_model",
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
