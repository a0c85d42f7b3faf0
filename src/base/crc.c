#include "base/crc.h"

/* One table entry a nibble: 64 bytes of cache instead of 1 KiB, and a record is short. The entry of
 * n is n reduced by the reflected polynomial 0x82f63b78. */
static const uint32_t nibble[16] = {
    0x00000000u, 0x105ec76fu, 0x20bd8edeu, 0x30e349b1u, 0x417b1dbcu, 0x5125dad3u,
    0x61c69362u, 0x7198540du, 0x82f63b78u, 0x92a8fc17u, 0xa24bb5a6u, 0xb21572c9u,
    0xc38d26c4u, 0xd3d3e1abu, 0xe330a81au, 0xf36e6f75u,
};

uint32_t crc32c(uint32_t crc, const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;

	crc = ~crc;
	for (size_t i = 0; i < size; i++) {
		crc ^= byte[i];
		crc = (crc >> 4) ^ nibble[crc & 15u];
		crc = (crc >> 4) ^ nibble[crc & 15u];
	}
	return ~crc;
}
