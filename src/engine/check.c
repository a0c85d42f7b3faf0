#include "engine/internal.h"

int engine_check(const struct engine *engine)
{
	(void)engine;
	return 0;
}
