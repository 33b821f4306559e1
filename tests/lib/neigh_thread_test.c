/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker looks neighbours up while the host worker makes and forgets them. */
#include "neigh_fake.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define N_HOSTS 512
#define ROUNDS 300

static _Atomic bool stop;

struct seen {
	uint64_t lookups, found, usable, woken, wrong;
};

static struct sl_addr host(unsigned int i)
{
	return sl_addr_v4(rte_cpu_to_be_32(0x0a000200U + i));
}

/* Its link address is that of its host: the low 16 bits of the address in the last two octets. */
static struct sl_neigh *look(unsigned int i, struct seen *seen)
{
	struct sl_addr addr = host(i);
	struct sl_neigh *n = sl_neigh_find(fake.r.neigh, 2, SL_AF_INET, &addr);
	uint64_t link;

	seen->lookups++;
	if (n == NULL)
		return NULL;
	seen->found++;
	link = atomic_load_explicit(&n->link, memory_order_acquire);
	if (link & SL_NEIGH_USABLE) {
		seen->usable++;
		seen->wrong += (uint8_t)(link >> 32) != addr.b[2]
				|| (uint8_t)(link >> 40) != addr.b[3];
		if (atomic_load_explicit(&n->used, memory_order_relaxed) == 0) {
			sl_neigh_wake(fake.r.neigh, n);
			seen->woken++;
		}
	}
	return n;
}

/* a batch, slow now and then: until its end every entry stays what it was found as */
static void batch(uint32_t x, struct seen *seen)
{
	struct sl_neigh *found[SL_BURST];

	for (unsigned int i = 0; i < SL_BURST; i++)
		found[i] = look((x + i * 7) % N_HOSTS, seen);
	if (x % 1024 == 0)
		usleep(2000);
	for (unsigned int i = 0; i < SL_BURST; i++) {
		struct sl_addr addr = host((x + i * 7) % N_HOSTS);

		seen->wrong += found[i] != NULL
				&& (found[i]->port != 2 || !sl_addr_eq(&found[i]->addr, &addr));
	}
}

static void *reader(void *arg)
{
	struct seen *seen = arg;
	uint32_t x = 1;

	rte_rcu_qsbr_thread_online(fake.r.rcu, 0);
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		x = x * 1664525U + 1013904223U;
		batch(x >> 8, seen);
		rte_rcu_qsbr_quiescent(fake.r.rcu, 0);
	}
	rte_rcu_qsbr_thread_offline(fake.r.rcu, 0);
	return NULL;
}

static void ask_and_answer(unsigned int i)
{
	struct sl_addr addr = host(i);
	char text[SL_ADDR_STRLEN], mac[18];

	sl_addr_str(SL_AF_INET, &addr, text);
	snprintf(mac, sizeof(mac), "02:00:00:00:%02x:%02x", addr.b[2], addr.b[3]);
	fake_forward(fake_packet("10.0.1.2", text, 40));
	if (i % 3 != 0)
		fake_arp(2, false, false, text, mac, "10.0.2.1", "02:00:00:00:02:01");
	fake_reset();
}

static void test_reader_sees_whole_entries_while_they_come_and_go(void **state __rte_unused)
{
	struct seen seen = { 0 };
	pthread_t thread;

	fake_start(1000 * FAKE_S);
	fake.net.sysctl.neigh4_max = 256;
	assert_int_equal(rte_rcu_qsbr_thread_register(fake.r.rcu, 0), 0);
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, reader, &seen), 0);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < 64; i++)
			ask_and_answer((round * 37 + i * 5) % N_HOSTS);
		fake_run((round % 8) * 10 * FAKE_S);
		fake_reset();
		if (round % 64 == 63)
			sl_neigh_port_changed(fake.w, 2, false);
	}
	/* let it have its share also on a single core */
	for (unsigned int i = 0; i < 100000 && sl_neigh_list(&fake.r, NULL, 0) > 0; i++) {
		sl_neigh_port_changed(fake.w, 2, false);
		sl_neigh_tick(fake.w);
	}
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	rte_rcu_qsbr_thread_unregister(fake.r.rcu, 0);
	sl_neigh_tick(fake.w);
	print_message("%lu look-ups, %lu found, %lu usable, %lu woken\n", seen.lookups, seen.found,
			seen.usable, seen.woken);
	assert_true(seen.lookups > 0);
	assert_int_equal(seen.wrong, 0);
	fake_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_sees_whole_entries_while_they_come_and_go),
	};

	fake_eal();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
