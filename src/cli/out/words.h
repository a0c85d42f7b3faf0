/* Splits a command line into words for execvp(). */
#ifndef DW_CLI_WORDS_H
#define DW_CLI_WORDS_H

/* words_split splits a line at its blanks, as a shell does. Nothing else has a special meaning: no
 * variable, no wildcard, no ';'. 'Single' and "double" quotes group words. A backslash makes the
 * next quote, blank or backslash a plain character, except in single quotes. Returns the words and
 * a NULL in one block, which the caller frees. Returns NULL if the line is invalid; *ret_fault then
 * says why. */
char **words_split(const char *line, const char **ret_fault);

/* words_of_shell returns the words of `/bin/sh -c command`, which the caller frees. Returns NULL if
 * out of memory. */
char **words_of_shell(const char *command);

#endif
