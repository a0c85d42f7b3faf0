/* CRC-32C (Castagnoli), the checksum of everything stored. Pass 0 as crc for the first bytes, and
 * the last result for the bytes after them. */
#ifndef DW_BASE_CRC_H
#define DW_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *bytes, size_t size);

#endif
