/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packets that both sides get, and the small network that they cross:
 *
 *   source 10.1.x.y ports -> [in 10.1.0.1/16  router  out 10.2.0.1/24] -> 10.2.0.2 port 9
 *          fd01::x:y          fd01::1/64              fd02::1/64          fd02::2
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TRAFFIC_FLOWS_MAX 1048576U
#define TRAFFIC_SIZE_MIN 64U /* bytes of a frame without its checksum */
#define TRAFFIC_SIZE_MAX 1514U

#define TRAFFIC_IN_MAC "02:00:00:00:00:01"
#define TRAFFIC_OUT_MAC "02:00:00:00:00:02"
#define TRAFFIC_SOURCE_MAC "02:00:00:00:00:98"
#define TRAFFIC_SINK_MAC "02:00:00:00:00:99"
#define TRAFFIC_IN_V4 "10.1.0.1/16"
#define TRAFFIC_OUT_V4 "10.2.0.1/24"
#define TRAFFIC_SINK_V4 "10.2.0.2"
#define TRAFFIC_IN_V6 "fd01::1/64"
#define TRAFFIC_OUT_V6 "fd02::1/64"
#define TRAFFIC_SINK_V6 "fd02::2"

struct traffic {
	bool v6;
	uint8_t ttl;
	uint16_t size; /* bytes of a frame */
	uint32_t flows; /* packet i belongs to flow i modulo flows */
};

/* the frame of a flow, t->size bytes */
void traffic_frame(const struct traffic *t, uint32_t flow, uint8_t *frame);
