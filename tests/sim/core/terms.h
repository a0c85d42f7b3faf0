/* Which answers an engine counts as current: those to operations that it has sent since it last
 * learnt that it lost the ownership. */
#ifndef SIM_CORE_TERMS_H
#define SIM_CORE_TERMS_H

#include <stdbool.h>

#include "port/op.h"

struct terms {
	unsigned sent;  /* the last term in which the engine has sent an operation */
	unsigned first; /* operations of earlier terms are not current */
};

static inline void terms_sent(struct terms *terms, const dw_op *op)
{
	terms->sent = ticket_of_const(op)->term;
}

static inline void terms_lost(struct terms *terms)
{
	terms->first = terms->sent + 1;
}

static inline bool terms_is_current(const struct terms *terms, const dw_op *op)
{
	return ticket_of_const(op)->term >= terms->first;
}

#endif
