#!/usr/bin/env bash
# Writes a program, C and C++ at once, that expands every macro of the public headers and links
# every function of them.
#
#	tests/consumer/every.sh INCLUDE_DIR
set -euo pipefail

include=$1
names=$(dirname "$0")/../abi/functions.sh
export LC_ALL=C

headers()
{
	local header
	for header in "$include"/durawheel/*.h; do
		printf '#include <durawheel/%s>\n' "${header##*/}"
	done
}

preprocessed()
{
	headers | cc -std=c11 -E "$@" -I "$include" -x c -
}

functions()
{
	preprocessed -P | "$names"
	preprocessed -P | grep -o '^static inline [^(]*(' | grep -o 'dw_[a-z_]*($' | tr -d '('
}

# macros: as expressions. DW_API is none; every declaration expands it.
macros()
{
	preprocessed -dM | sed -n 's/^#define \(DW_[A-Z_]*\)\((.*)\)\{0,1\} .*/\1\2/p' |
		sed 's/\([(, ]\)[a-z][a-z_]*/\11/g' | grep -vx DW_API
}

headers
cat <<'END'
#include <stdio.h>

typedef void (*any_function)(void);

static const any_function functions[] = {
END
functions | sed 's/.*/	(any_function)&,/'
cat <<'END'
};

int main(void)
{
	size_t count = sizeof functions / sizeof *functions;
	size_t macros = 0;

	for (size_t i = 0; i < count; i++)
		if (!functions[i])
			return 1;
END
macros | sed 's/.*/	(void)(&), macros++;/'
cat <<'END'
	printf("%zu functions, %zu macros\n", count, macros);
	return 0;
}
END
