/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* tell a service manager that listens on $NOTIFY_SOCKET, e.g. "READY=1"; see sd_notify(3) */
void notify_manager(const char *state);
