/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers: protocols whose control connection announces further ones. */
#pragma once

#include "lib/addr.h"

#include <stdint.h>

/* for messages */
#define CT_HELPER_WORDS "ftp and irc (IPv4) of TCP, tftp of UDP"

enum ct_helper {
	CT_HELPER_NONE,
	CT_HELPER_FTP,
	CT_HELPER_TFTP,
	CT_HELPER_IRC,
	CT_HELPER_NB,
};

/* Return: enum ct_helper; CT_HELPER_NONE if there is none of that name, family and protocol */
uint16_t ct_helper_find(const char *name, enum sl_family family, uint8_t proto);

/* NULL: of CT_HELPER_NONE */
const char *ct_helper_name(uint16_t helper);
