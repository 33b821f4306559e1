/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "app/sluice/link.h"

/**
 * ethdev_probe() - let DPDK make the device of a device string
 * @dev: its ethdev id
 *
 * Return: 0, or -errno and in @err what was found and what is possible.
 */
int ethdev_probe(const struct link_want *want, uint16_t *dev, char *err, size_t err_size);
