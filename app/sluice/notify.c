/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_manager(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len;
	int fd;

	if (path == NULL || path[0] == '\0' || strlen(path) >= sizeof(addr.sun_path))
		return;
	strcpy(addr.sun_path, path);
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	/* '@' stands for the NUL of an abstract name */
	if (addr.sun_path[0] == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* nobody waits for an answer, and a manager that is gone is no fault of ours */
	(void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const void *)&addr, len);
	close(fd);
}
