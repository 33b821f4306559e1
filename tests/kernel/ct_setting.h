/* SPDX-License-Identifier: BSD-3-Clause */
/* ct_setting: rules and switches under which sequences are played, for both sides. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CT_SYSCTLS_MAX 12
#define CT_PAUSES_MAX 2

struct ct_setting {
	const char *name;
	const char *sysctls[CT_SYSCTLS_MAX]; /* "name=value" behind net.netfilter.nf_conntrack_ */
	/* lines of rules for both families; NULL: none. They stand behind those of every setting */
	const char *raw, *mangle, *nat, *filter;
	const char *policy; /* of filter's FORWARD; NULL: ACCEPT */
	bool v4_only;
	/* two connections may have what an error quotes or the router answers: the newer one is taken */
	bool no_errors; /* nor packets to the router */
	bool free_ports; /* NAT may choose: ports and ids are not compared */
	struct {
		unsigned int step; /* before this step */
		unsigned int ms;
	} pause[CT_PAUSES_MAX];
};

/* NULL behind the last */
const struct ct_setting *ct_setting(unsigned int i);
const struct ct_setting *ct_setting_named(const char *name);

void ct_setting_print_rules(FILE *f, const struct ct_setting *s, bool v6);
