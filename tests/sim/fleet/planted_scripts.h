/* Planted bugs of the scripts: patches of their texts. */
#ifndef SIM_FLEET_PLANTED_SCRIPTS_H
#define SIM_FLEET_PLANTED_SCRIPTS_H

#include <stdbool.h>

#include "keyspace/keyspace.h"
#include "sim/core/bugs.h"

/* planted_scripts: the scripts have this bug from now on. is_late: the command is one of a
 * connection that is lost. */
void planted_scripts(struct keyspace *, enum bug, bool is_late);

#endif
