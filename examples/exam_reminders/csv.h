/* Comma-separated values as in RFC 4180. */
#ifndef CSV_H
#define CSV_H

#define CSV_FIELDS_MAX 16

/* csv_read: the whole file, ended by a zero byte; the caller frees it. NULL, and words on stderr,
 * if it cannot be read. */
char *csv_read(const char *path);

/* csv_cut cuts the record at *at into fields, in place, and moves *at behind it. Returns the number
 * of fields; 0: the text has ended; -1: not CSV. */
int csv_cut(char **at, char *field[CSV_FIELDS_MAX]);

#endif
