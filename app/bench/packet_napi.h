/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive softirq of an interface as a kernel thread, whose CPU time can be read. */
#pragma once

#include <sys/types.h>

/* @interface polls (NAPI) what @peer sends, in a thread; in a mount namespace of its own */
int packet_napi_enable(const char *interface, const char *peer, char *why);

/* the thread of poll @id, moved to @core */
int packet_napi_find(const char *interface, unsigned int id, unsigned int core, pid_t *thread,
		char *why);

/* CPU time that the thread has had, 0 if there is none */
double packet_napi_ns(pid_t thread);
