/* journal_model: searches the model of the journal's protocol; README.md says how it is read, and
 * search/question.h how it is asked. */
#include "model/search/question.h"
#include "model/worlds.h"

#define FAULTS_MAX 4u /* each may cost the owner and the standby a fence */

static bool fits(const struct model *model)
{
	return model->limits.puts + model->limits.client_puts < (int)GENERATIONS;
}

int main(int count, char **values)
{
	struct model model = {.rules = RULES_ALL, .limits = {1, 1, 1, 0, 1}};
	const struct question_option options[] = {
	    {"--fire", NULL, &model.fire}, /* the policy; else hold */
	    {"--unknown", NULL, &model.unknown},
	    {"--stranger", NULL, &model.stranger},
	    {"--faults", &model.limits.faults, NULL},
	    {"--puts", &model.limits.puts, NULL},
	    {"--cancels", &model.limits.cancels, NULL},
	    {"--client-puts", &model.limits.client_puts, NULL},
	    {"--client-cancels", &model.limits.client_cancels, NULL},
	};

	return question_answer(&(struct question){.program = "journal_model",
						  .series = &worlds_series,
						  .model = &model,
						  .rules = &model.rules,
						  .options = options,
						  .option_count = sizeof options / sizeof *options,
						  .fits = fits,
						  .search = worlds_search,
						  .most = FAULTS_MAX,
						  .limit = WORLD_LIMIT},
			       count, values);
}
