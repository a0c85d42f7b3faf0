/* The timers of the crash tests. The id, topic and data of timer n follow from n and the seed, so
 * they can be compared byte for byte without being stored. */
#ifndef DW_TESTS_FAULTS_PAYLOAD_H
#define DW_TESTS_FAULTS_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "durawheel/durawheel.h"

enum { PAYLOAD_MAX = 4096 };

/* payload_id writes a valid id that is hard to quote. It ends with '#' and the number. */
void payload_id(size_t number, char id[DW_ID_MAX + 1]);

/* payload_number returns the number of such an id, or SIZE_MAX. */
size_t payload_number(const char *id);

/* payload_data writes text, bytes that are not valid UTF-8, or nothing. Returns their size. */
size_t payload_data(uint64_t seed, size_t number, unsigned char data[PAYLOAD_MAX]);

/* payload_is_text returns true if the data can be written as a JSON string. */
int payload_is_text(const unsigned char *data, size_t size);

/* payload_line writes one line of an import. */
void payload_line(FILE *, uint64_t seed, size_t number, dw_usec due);

/* The topic of all timers. */
#define PAYLOAD_TOPIC "crash.test"

#endif
