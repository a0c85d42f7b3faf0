/* Commands as words: what execvp() takes. */
#ifndef DW_CLI_WORDS_H
#define DW_CLI_WORDS_H

/* words_split divides a command line at its blanks, as a shell does, but nothing else in it has a
 * meaning: no variable, no wildcard, no ';'. 'Single' and "double" quotes group words. A backslash
 * makes the quote, blank or backslash after it a plain character, except in single quotes. Returns
 * the words and a NULL, for free(); or NULL, and *ret_fault says what is wrong. */
char **words_split(const char *line, const char **ret_fault);

/* words_of_shell returns the words of /bin/sh -c command, for free(). Returns NULL if out of
 * memory. */
char **words_of_shell(const char *command);

#endif
