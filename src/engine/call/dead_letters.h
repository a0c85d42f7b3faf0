/* Lists and drops dead letters. */
#ifndef DW_ENGINE_DEAD_LETTERS_H
#define DW_ENGINE_DEAD_LETTERS_H

#include "engine/call/calls.h"

void dead_letters_show(struct engine *, const struct call *);

#endif
