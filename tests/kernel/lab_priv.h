/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lab.h"

struct lab {
	const struct lab_spec *spec;
	int home_fd; /* the namespace that we came from */
	int ns_fd[LAB_NS_NB];
	int sock[LAB_PORTS_MAX]; /* packet sockets on the wire's ends */
	int ifindex[LAB_PORTS_MAX];
	unsigned int n_ports;
	uint32_t probe_id;
};

/* lab_setup() - devices, addresses, routes and sysctls of a lab whose namespaces are there */
int lab_setup(struct lab *lab);

int lab_enter(struct lab *lab, enum lab_ns ns);
void lab_leave(struct lab *lab);
