/* CRC-32C (Castagnoli), the checksum of everything stored. crc of nothing is 0; feed the earlier
 * result to go on. */
#ifndef DW_BASE_CRC_H
#define DW_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *bytes, size_t size);

#endif
