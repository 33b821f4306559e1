/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes as a configuration file: read, or refused with exactly one line. */
#include "config/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_conf *conf = NULL;
	char path[32], *text = NULL;
	size_t text_size, lines = 0;
	int fd = memfd_create("conf", MFD_CLOEXEC);
	FILE *err = open_memstream(&text, &text_size);

	if (fd < 0 || err == NULL || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (sl_conf_read(path, &conf, err) == 0)
		sl_conf_free(conf);
	fclose(err);
	close(fd);
	for (const char *p = text; *p != '\0'; p++)
		lines += *p == '\n';
	if (lines != (conf == NULL))
		abort();
	free(text);
	return 0;
}
