/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lab: a kernel that routes, to be asked what it does with a frame.
 *
 * A lab is two network namespaces: "router", whose kernel forwards between its ports, and "wire",
 * which holds the other end of every port's veth pair and is kept mute, so that a frame seen on a
 * wire was sent by the router. The namespaces have no name: they live as long as the file
 * descriptors of this process, hence nothing is left behind, however the process ends.
 *
 * Frames are sent and collected on packet sockets. The caller is pinned to one CPU, and everything
 * between two ends of a veth runs in the order in which it was sent on that CPU. So an ARP probe
 * sent behind a frame is answered after all that the frame caused at once: lab_collect() knows when
 * it has seen everything, and a frame's effects are never taken for another's.
 *
 * Single-threaded: the namespace of the calling thread changes while a call runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_PORTS_MAX 8
#define LAB_FRAME_MAX 9216

enum lab_ns {
	LAB_ROUTER,
	LAB_WIRE,
	LAB_NS_NB,
};

/* all strings are in the form that ip(8) takes */
struct lab_port {
	const char *name; /* of the router's device; the wire's end is "w-NAME" */
	const char *mac; /* the router's */
	const char *addresses; /* with prefix lengths, separated by blanks */
	const char *probe; /* an IPv4 address of this port, to which lab_collect() sends its ARP */
	unsigned int mtu;
};

struct lab_neigh {
	const char *ip;
	const char *mac;
	const char *port;
};

struct lab_route {
	const char *to;
	const char *via; /* NULL if type is set */
	const char *type; /* unreachable, prohibit, blackhole, throw */
};

/* each table ends at the first entry whose first member is NULL */
struct lab_spec {
	const struct lab_port *ports;
	const struct lab_neigh *neighs;
	const struct lab_route *routes;
	const char *const *sysctls; /* "name=value" in the router; NULL for none */
	const char *const *more_sysctls;
};

struct lab_frame {
	unsigned int port;
	uint64_t time_ns; /* realtime clock, when the wire got it */
	uint32_t len;
	uint8_t *data;
};

struct lab_frames {
	struct lab_frame *v;
	size_t n;
	size_t room;
};

struct lab;

/* Return: true if this user may make namespaces and ip(8) is there; else *why says what lacks */
bool lab_possible(const char **why);

/* Return: 0, or -errno after a line on stderr that says which step failed */
int lab_open(const struct lab_spec *spec, struct lab **lab);
void lab_close(struct lab *lab);

/*
 * lab_exec() - run a shell command in a namespace
 * lab_feed() - the same, with a text on its standard input (rules for iptables-restore)
 * lab_read() - the same, with its standard output in out, which it truncates to size - 1 bytes
 *
 * Return: the command's exit status, 128 + signal, or -errno
 */
int lab_exec(struct lab *lab, enum lab_ns ns, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
int lab_feed(struct lab *lab, enum lab_ns ns, const char *text, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));
int lab_read(struct lab *lab, enum lab_ns ns, char *out, size_t size, const char *fmt, ...)
		__attribute__((format(printf, 5, 6)));

/* Return: 0, -ENOENT if this kernel lacks it, another -errno */
int lab_sysctl(struct lab *lab, enum lab_ns ns, const char *name, const char *value);

/* lab_forget() - the router's kernel forgets all connections. Return: 0 or -errno */
int lab_forget(struct lab *lab);

/* lab_send() - put a frame on the wire of a port; at least 14 bytes. Return: 0 or -errno */
int lab_send(struct lab *lab, unsigned int port, const void *data, size_t len);

/*
 * lab_collect() - append all frames that the router has sent because of what lab_send() sent
 * @port: where the last frame was sent
 *
 * Return: 0, or -ETIMEDOUT if the router does not answer any more
 */
int lab_collect(struct lab *lab, unsigned int port, struct lab_frames *frames);

/* lab_wait() - append what comes within a time, for what the kernel does by timer */
int lab_wait(struct lab *lab, unsigned int ms, struct lab_frames *frames);

/* the clock by which frames are stamped, and a sleep on it */
uint64_t lab_now_ns(void);
void lab_sleep_until(uint64_t when_ns);

void lab_frames_reset(struct lab_frames *frames);
int lab_frames_add(struct lab_frames *frames, unsigned int port, uint64_t time_ns, const void *data,
		size_t len);
