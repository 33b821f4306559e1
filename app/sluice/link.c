/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/link.h"

#include <ctype.h>
#include <string.h>

bool link_device_arg(const char *device, const char *key, char *buf, size_t size)
{
	size_t key_len = strlen(key);
	const char *p = device;

	while ((p = strchr(p, ',')) != NULL) {
		p++;
		if (strncmp(p, key, key_len) == 0 && p[key_len] == '=') {
			const char *value = p + key_len + 1;
			size_t len = strcspn(value, ",");

			if (len >= size)
				return false;
			memcpy(buf, value, len);
			buf[len] = '\0';
			return true;
		}
	}
	return false;
}

size_t link_driver_len(const char *device)
{
	size_t len = strcspn(device, ",");

	while (len > 0 && isdigit((unsigned char)device[len - 1]))
		len--;
	return len;
}

int link_open(const struct link_want *want, struct port_link **out, char *err, size_t err_size)
{
	static const char *const packet[] = { "net_af_packet", "eth_af_packet" };
	size_t len = link_driver_len(want->device);

	for (unsigned int i = 0; i < RTE_DIM(packet); i++) {
		if (len == strlen(packet[i]) && strncmp(want->device, packet[i], len) == 0)
			return link_packet_open(want, out, err, err_size);
	}
	return link_ethdev_open(want, out, err, err_size);
}
