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
	const char *raw, *mangle, *filter;
	const char *nat, *nat6; /* of each family alone; both NULL: no such table */
	const char *policy; /* of filter's FORWARD; NULL: ACCEPT */
	bool v4_only;
	/* two connections may have what an error quotes or the router answers: the newer one is taken */
	bool no_errors; /* nor packets to the router */
	bool same_port; /* both flows of a random sequence leave their client by one port */
	struct {
		unsigned int step; /* before this step */
		unsigned int ms;
	} pause[CT_PAUSES_MAX];
};

/* NULL behind the last. @nat: those in which something is translated, instead of the others */
const struct ct_setting *ct_setting(bool nat, unsigned int i);
const struct ct_setting *ct_setting_named(const char *name);

/* ct_setting_nat.c */
extern const struct ct_setting ct_settings_nat[];
extern const unsigned int ct_settings_nat_n;

/* whether there is a nat table: ports and ids may be drawn, by both sides others */
static inline bool ct_setting_translates(const struct ct_setting *s)
{
	return s->nat != NULL || s->nat6 != NULL;
}

void ct_setting_print_rules(FILE *f, const struct ct_setting *s, bool v6);
