/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/config/set_fixture.h"

#include "config/ipset.h"
#include "config/ipset_live.h"

#include <netinet/in.h>
#include <stdlib.h>

#define L3 14

struct set_fixture *set_fixture_new(void)
{
	struct set_fixture *f = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*f), 64));
	struct sl_worker *w = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*w), 64));

	if (f == NULL || w == NULL)
		abort();
	memset(f, 0, sizeof(*f));
	memset(w, 0, sizeof(*w));
	w->r = &f->r;
	w->now_ns = UINT64_C(1000000000000);
	f->r.workers[0] = w;
	f->r.n_workers = 1;
	f->r.manual_clock = true;
	snprintf(f->r.ports[1].name, sizeof(f->r.ports[1].name), "wan");
	snprintf(f->r.ports[2].name, sizeof(f->r.ports[2].name), "lan");
	f->c = (struct ipt_ctx){ .w = w, .hook = IPT_FORWARD, .in = 1, .out = 2 };
	set_load(f, "");
	return f;
}

void set_fixture_free(struct set_fixture *f)
{
	sl_sets_free(f->sets);
	free(f->r.workers[0]);
	free(f);
}

void set_load(struct set_fixture *f, const char *text)
{
	struct ipt_sets *old = f->sets;
	struct ipset_file *file;
	struct ipt_errors errors;

	if (ipset_load("sets", text, strlen(text), &file, &errors) < 0) {
		fprintf(stderr, "%s\n", errors.n == 0 ? "no memory" : errors.v[0].text);
		abort();
	}
	ipt_errors_free(&errors);
	if (sl_sets_create(&f->r, file, old, &f->sets) < 0)
		abort();
	sl_sets_free(old);
	ipset_free(file);
}

void set_packet(struct set_fixture *f, const char *src, const char *dst, uint8_t proto,
		uint16_t sport, uint16_t dport)
{
	static const uint8_t macs[] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };
	struct set_packet *k = &f->packet;
	enum sl_family family;
	uint8_t *l4;

	memset(k, 0, sizeof(*k));
	family = sl_addr_parse(src, &k->p.src);
	sl_addr_parse(dst, &k->p.dst);
	k->p.family = (uint8_t)family;
	k->p.proto = proto;
	k->p.l3_off = L3;
	k->p.l4_off = family == SL_AF_INET ? L3 + 20 : L3 + 40;
	k->p.flags = SL_PKT_L4;
	k->m.buf_addr = k->frame;
	k->m.data_len = (uint16_t)(k->p.l4_off + 20);
	k->m.pkt_len = k->m.data_len;
	k->m.nb_segs = 1;
	memcpy(k->frame, macs, sizeof(macs));
	l4 = k->frame + k->p.l4_off;
	l4[0] = (uint8_t)(sport >> 8);
	l4[1] = (uint8_t)sport;
	l4[2] = (uint8_t)(dport >> 8);
	l4[3] = (uint8_t)dport;
	f->c.family = family == SL_AF_INET ? IPT_V4 : IPT_V6;
	f->c.m = &k->m;
	f->c.p = &k->p;
}

static struct sl_set_ask ask_of(const char *dirs, uint32_t flags)
{
	struct sl_set_ask ask = { .flags = flags };

	for (const char *s = dirs; s != NULL;
			s = strchr(s, ',') == NULL ? NULL : strchr(s, ',') + 1)
		ask.src |= (uint8_t)((s[0] == 's') << ask.n++);
	return ask;
}

bool set_asks(struct set_fixture *f, const char *name, const char *dirs, uint32_t flags)
{
	struct set_slot *slot = sl_set_slot(f->sets, name, false);
	struct sl_set_ask ask = ask_of(dirs, flags);
	bool in = slot != NULL && sl_set_match(slot, &f->c, &ask, NULL);

	if (slot != NULL)
		sl_set_put(slot, false);
	return in;
}

void set_adds(struct set_fixture *f, const char *name, const char *dirs, uint32_t flags)
{
	struct set_slot *slot = sl_set_slot(f->sets, name, true);
	struct sl_set_ask ask = ask_of(dirs, flags);

	sl_set_add_packet(slot, &f->c, &ask);
	sl_set_put(slot, true);
}

void set_dels(struct set_fixture *f, const char *name, const char *dirs)
{
	struct set_slot *slot = sl_set_slot(f->sets, name, false);
	struct sl_set_ask ask = ask_of(dirs, 0);

	sl_set_del_packet(slot, &f->c, &ask);
	sl_set_put(slot, false);
}

int set_run(struct set_fixture *f, const char *line)
{
	char err[256];

	return ipset_live_run(f->sets, line, false, err, sizeof(err));
}

char *set_text(struct set_fixture *f, const char *name)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (out == NULL || ipset_live_print(out, f->sets, name) < 0)
		abort();
	fclose(out);
	return text;
}
