/* The timers of the crash tests. The id, topic and data of timer n follow from n and the seed, so
 * they can be compared byte for byte without being stored. */
#ifndef DW_TESTS_FAULTS_PAYLOAD_H
#define DW_TESTS_FAULTS_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "durawheel/durawheel.h"

enum { PAYLOAD_MAX = 4096 };

/* payload_id writes a valid id that is hard on quoting; it ends with '#' and the number. */
void payload_id(size_t number, char id[DW_ID_MAX + 1]);

/* payload_number: of an id as above, or SIZE_MAX. */
size_t payload_number(const char *id);

/* payload_data writes text, bytes that are no UTF-8, or nothing, and returns its size. */
size_t payload_data(uint64_t seed, size_t number, unsigned char data[PAYLOAD_MAX]);

/* payload_is_text: the data as it stands is a string of JSON. */
int payload_is_text(const unsigned char *data, size_t size);

/* payload_line writes the line of an import. */
void payload_line(FILE *, uint64_t seed, size_t number, dw_usec due);

/* The topic of all of them. */
#define PAYLOAD_TOPIC "crash.test"

#endif
