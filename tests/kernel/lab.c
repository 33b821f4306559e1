/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PROBE_LEN 42
#define PROBE_WAIT_MS 2000
#define SOCK_BUF_BYTES (16 << 20)

bool lab_possible(const char **why)
{
	if (geteuid() != 0) {
		*why = "not root";
		return false;
	}
	if (system("command -v ip >/dev/null 2>&1") != 0) {
		*why = "no ip(8): apt-get install iproute2";
		return false;
	}
	return true;
}

int lab_enter(struct lab *lab, enum lab_ns ns)
{
	return setns(lab->ns_fd[ns], CLONE_NEWNET) < 0 ? -errno : 0;
}

void lab_leave(struct lab *lab)
{
	if (setns(lab->home_fd, CLONE_NEWNET) < 0) {
		perror("lab: cannot return to the own network namespace");
		abort();
	}
}

static int make_ns(struct lab *lab, enum lab_ns ns)
{
	int ret = 0;

	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	lab->ns_fd[ns] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (lab->ns_fd[ns] < 0)
		ret = -errno;
	lab_leave(lab);
	return ret;
}

/* one CPU: see lab.h on why the order of frames depends on it */
static int pin(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	if (cpu < 0)
		return -errno;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

int lab_sysctl(struct lab *lab, enum lab_ns ns, const char *name, const char *value)
{
	char path[256];
	ssize_t n;
	int fd, ret;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	for (char *p = path; *p != '\0'; p++) {
		if (*p == '.')
			*p = '/';
	}
	ret = lab_enter(lab, ns);
	if (ret < 0)
		return ret;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
	} else {
		n = write(fd, value, strlen(value));
		ret = n < 0 ? -errno : 0;
		close(fd);
	}
	lab_leave(lab);
	return ret;
}

static int open_sock(struct lab *lab, unsigned int port)
{
	static const int one = 1, size = SOCK_BUF_BYTES;
	struct sockaddr_ll sll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	const void *address = &sll;
	char name[IFNAMSIZ];
	int fd;

	snprintf(name, sizeof(name), "w-%s", lab->spec->ports[port].name);
	lab->ifindex[port] = (int)if_nametoindex(name);
	sll.sll_ifindex = lab->ifindex[port];
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	lab->sock[port] = fd;
	if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0
			|| setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) < 0
			|| setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) < 0
			|| setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0
			|| bind(fd, address, sizeof(sll)) < 0)
		return -errno;
	return 0;
}

static int open_socks(struct lab *lab)
{
	int ret = lab_enter(lab, LAB_WIRE);

	if (ret < 0)
		return ret;
	for (unsigned int i = 0; ret == 0 && i < lab->n_ports; i++)
		ret = open_sock(lab, i);
	lab_leave(lab);
	return ret;
}

static struct lab *lab_alloc(const struct lab_spec *spec)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	if (lab == NULL)
		return NULL;
	lab->spec = spec;
	lab->home_fd = -1;
	for (int i = 0; i < LAB_NS_NB; i++)
		lab->ns_fd[i] = -1;
	for (int i = 0; i < LAB_PORTS_MAX; i++)
		lab->sock[i] = -1;
	while (lab->n_ports < LAB_PORTS_MAX && spec->ports[lab->n_ports].name != NULL)
		lab->n_ports++;
	return lab;
}

int lab_open(const struct lab_spec *spec, struct lab **out)
{
	struct lab *lab = lab_alloc(spec);
	const char *step = "own namespace";
	int ret = 0;

	if (lab == NULL)
		return -ENOMEM;
	lab->home_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (lab->home_fd < 0) {
		ret = -errno;
		goto err;
	}
	step = "cpu affinity";
	ret = pin();
	for (int i = 0; ret == 0 && i < LAB_NS_NB; i++) {
		step = "new namespace";
		ret = make_ns(lab, i);
	}
	if (ret == 0) {
		step = "set-up";
		ret = lab_setup(lab);
	}
	if (ret == 0) {
		step = "packet sockets";
		ret = open_socks(lab);
	}
	if (ret < 0)
		goto err;
	*out = lab;
	return 0;

err:
	fprintf(stderr, "lab: %s: %s\n", step, strerror(-ret));
	lab_close(lab);
	return ret;
}

void lab_close(struct lab *lab)
{
	if (lab == NULL)
		return;
	for (int i = 0; i < LAB_PORTS_MAX; i++) {
		if (lab->sock[i] >= 0)
			close(lab->sock[i]);
	}
	for (int i = 0; i < LAB_NS_NB; i++) {
		if (lab->ns_fd[i] >= 0)
			close(lab->ns_fd[i]);
	}
	if (lab->home_fd >= 0)
		close(lab->home_fd);
	free(lab);
}

int lab_send(struct lab *lab, unsigned int port, const void *data, size_t len)
{
	ssize_t n = send(lab->sock[port], data, len, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EMSGSIZE;
}

void lab_frames_reset(struct lab_frames *frames)
{
	for (size_t i = 0; i < frames->n; i++)
		free(frames->v[i].data);
	free(frames->v);
	*frames = (struct lab_frames){ 0 };
}

int lab_frames_add(struct lab_frames *frames, unsigned int port, uint64_t time_ns, const void *data,
		size_t len)
{
	uint8_t *copy = malloc(len + 1);

	if (copy == NULL)
		return -ENOMEM;
	if (frames->n == frames->room) {
		size_t room = frames->room * 2 + 16;
		struct lab_frame *v = realloc(frames->v, room * sizeof(*v));

		if (v == NULL) {
			free(copy);
			return -ENOMEM;
		}
		frames->v = v;
		frames->room = room;
	}
	memcpy(copy, data, len);
	frames->v[frames->n++] = (struct lab_frame){
		.port = port,
		.time_ns = time_ns,
		.len = (uint32_t)len,
		.data = copy,
	};
	return 0;
}

static uint64_t stamp(struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		struct timespec ts;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	}
	return 0;
}

/* a report of multicast membership (RFC 3810): the kernel sends it when an address is new */
static bool is_mld_report(const uint8_t *f, size_t len)
{
	static const uint8_t all_routers[6] = { 0x33, 0x33, 0, 0, 0, 0x16 };

	return len > 62 && memcmp(f, all_routers, 6) == 0 && f[12] == 0x86 && f[13] == 0xdd
			&& f[20] == 0 && f[54] == IPPROTO_ICMPV6 && f[62] == 143;
}

/*
 * The probe is an address probe (RFC 5227): the router answers it and, as the sender's address is
 * 0.0.0.0, learns nothing. Its number rides in the sender's MAC, to which the answer goes.
 */
static void make_probe(struct lab *lab, unsigned int port, uint8_t f[PROBE_LEN])
{
	static const uint8_t arp[] = { 0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1 };
	uint32_t id = htonl(++lab->probe_id);
	uint8_t mac[6] = { 0x06, 0xfe };

	memcpy(mac + 2, &id, 4);
	memset(f, 0, PROBE_LEN);
	memset(f, 0xff, 6);
	memcpy(f + 6, mac, 6);
	memcpy(f + 12, arp, sizeof(arp));
	memcpy(f + 22, mac, 6);
	inet_pton(AF_INET, lab->spec->ports[port].probe, f + 38);
}

static bool answers(const uint8_t *f, size_t len, const uint8_t *probe)
{
	return len >= PROBE_LEN && memcmp(f, probe + 6, 6) == 0 && f[12] == 0x08 && f[13] == 0x06;
}

/* Return: 1 if the answer to the probe came, 0 if all is read, or -errno */
static int drain(
		struct lab *lab, unsigned int port, const uint8_t *probe, struct lab_frames *frames)
{
	uint8_t data[LAB_FRAME_MAX], control[64];

	for (;;) {
		struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
		struct msghdr msg = { .msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control) };
		ssize_t n = recvmsg(lab->sock[port], &msg, 0);
		int ret;

		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (probe != NULL && answers(data, (size_t)n, probe))
			return 1;
		if (is_mld_report(data, (size_t)n))
			continue;
		ret = lab_frames_add(frames, port, stamp(&msg), data, (size_t)n);
		if (ret < 0)
			return ret;
	}
}

int lab_collect(struct lab *lab, unsigned int port, struct lab_frames *frames)
{
	struct pollfd pfd = { .fd = lab->sock[port], .events = POLLIN };
	uint8_t probe[PROBE_LEN];
	int ret;

	make_probe(lab, port, probe);
	ret = lab_send(lab, port, probe, sizeof(probe));
	if (ret < 0)
		return ret;
	while ((ret = drain(lab, port, probe, frames)) == 0) {
		if (poll(&pfd, 1, PROBE_WAIT_MS) == 0)
			return -ETIMEDOUT;
	}
	for (unsigned int i = 0; ret >= 0 && i < lab->n_ports; i++)
		ret = drain(lab, i, NULL, frames);
	return ret < 0 ? ret : 0;
}

int lab_wait(struct lab *lab, unsigned int ms, struct lab_frames *frames)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
	int ret = 0;

	nanosleep(&ts, NULL);
	for (unsigned int i = 0; ret >= 0 && i < lab->n_ports; i++)
		ret = drain(lab, i, NULL, frames);
	return ret < 0 ? ret : 0;
}

uint64_t lab_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void lab_sleep_until(uint64_t when_ns)
{
	struct timespec ts = { .tv_sec = (time_t)(when_ns / 1000000000),
		.tv_nsec = (long)(when_ns % 1000000000) };

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL) == EINTR)
		continue;
}
