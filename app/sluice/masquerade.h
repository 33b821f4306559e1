/* SPDX-License-Identifier: BSD-3-Clause */
/* What MASQUERADE has chosen ends with the address, or with the port, that it was chosen for. */
#pragma once

#include <stdint.h>

struct app;
struct sl_conf;

/* a port's interface was set down or is gone; lost carrier is not, as in the kernel */
void masquerade_port_down(struct app *app, uint16_t port);

/* addresses of app->conf that @new has no more */
void masquerade_addresses(struct app *app, const struct sl_conf *new);
