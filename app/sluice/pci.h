/* SPDX-License-Identifier: BSD-3-Clause */
/* PCI network devices as the kernel sees them, for messages and against stealing them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* whether a device string is a PCI address, with or without its domain */
bool pci_is_address(const char *device);

/* network devices with the kernel's driver, "0000:00:03.0 (virtio-pci), ..."; "none" */
void pci_list(char *buf, size_t size);

/**
 * pci_check() - may DPDK take the device
 *
 * Return: 0; -ENODEV if it is not there; -EBUSY if a kernel driver has it that does not share it.
 * @err then says what is there and the command that mends it.
 */
int pci_check(const char *device, char *err, size_t err_size);
