#include "support/free_port.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LEAST = 10000, END = 32768, TRIES = 100 };

static bool is_free(unsigned port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;

	if (fd >= 0)
		(void)close(fd); /* the socket only served to try the port */
	return is;
}

unsigned free_port(void)
{
	uint32_t number;

	for (int i = 0; i < TRIES; i++) {
		if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
			break;
		number = LEAST + number % (END - LEAST);
		if (is_free(number))
			return number;
	}
	(void)fprintf(stderr, "no free port\n");
	abort();
}
