/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/pcapng.h"

#include "lib/router.h"

#define BLOCK_SECTION 0x0a0d0d0aU
#define BLOCK_INTERFACE 1U
#define BLOCK_STATISTICS 5U
#define BLOCK_PACKET 6U
#define BYTE_ORDER_MAGIC 0x1a2b3c4dU
/* for bare IP packets (101), libpcap 1.10 takes no more than one interface */
#define LINK_ETHERNET 1U

#define OPTION_END 0U
#define OPTION_COMMENT 1U
#define OPTION_IF_NAME 2U
#define OPTION_PACKET_FLAGS 2U
#define OPTION_IF_TSRESOL 9U
#define OPTION_STATS_RECEIVED 4U
#define OPTION_STATS_DROPPED 5U

#define FLAGS_IN 1U
#define FLAGS_OUT 2U

/* a block under construction; all parts are multiples of 4 bytes */
struct block {
	uint32_t type;
	uint32_t fixed[5];
	unsigned int n_fixed;
	const uint8_t *link, *data; /* one behind the other */
	uint32_t link_len, data_len;
	uint8_t options[512];
	uint32_t options_len;
};

static uint32_t padded(uint32_t len)
{
	return (len + 3) & ~3U;
}

static void add_option(struct block *b, uint16_t code, const void *value, uint16_t len)
{
	uint8_t *at = b->options + b->options_len;

	memset(at, 0, 4 + padded(len));
	memcpy(at, &code, sizeof(code));
	memcpy(at + 2, &len, sizeof(len));
	memcpy(at + 4, value, len);
	b->options_len += 4 + padded(len);
}

static bool write_block(FILE *f, const struct block *b)
{
	static const uint8_t zeros[4];
	uint32_t end = b->options_len > 0 ? 4 : 0;
	uint32_t body = b->link_len + b->data_len;
	uint32_t len = 12 + b->n_fixed * 4 + padded(body) + b->options_len + end;
	uint32_t head[2] = { b->type, len };

	fwrite(head, sizeof(head), 1, f);
	fwrite(b->fixed, 4, b->n_fixed, f);
	if (body > 0) {
		fwrite(b->link, 1, b->link_len, f);
		fwrite(b->data, 1, b->data_len, f);
		fwrite(zeros, 1, padded(body) - body, f);
	}
	fwrite(b->options, 1, b->options_len, f);
	fwrite(zeros, 1, end, f);
	fwrite(&len, sizeof(len), 1, f);
	return !ferror(f);
}

static bool write_interface(FILE *f, const char *name)
{
	struct block b = { .type = BLOCK_INTERFACE, .fixed = { LINK_ETHERNET, 0 }, .n_fixed = 2 };
	uint8_t nanoseconds = 9;

	add_option(&b, OPTION_IF_NAME, name, (uint16_t)strlen(name));
	add_option(&b, OPTION_IF_TSRESOL, &nanoseconds, sizeof(nanoseconds));
	return write_block(f, &b);
}

bool pcapng_start(FILE *f, const struct sl_router *r)
{
	struct block b = {
		.type = BLOCK_SECTION,
		/* version 1.0; the length of the section is not known */
		.fixed = { BYTE_ORDER_MAGIC, 1, UINT32_MAX, UINT32_MAX },
		.n_fixed = 4,
	};
	bool ok = write_block(f, &b);

	for (unsigned int i = 0; ok && i <= r->n_ports; i++)
		ok = write_interface(f, i == SL_PORT_HOST ? "router" : r->ports[i].name);
	return ok && fflush(f) == 0;
}

bool pcapng_write(FILE *f, const struct pcapng_packet *p)
{
	uint32_t link_len = p->whole ? 0 : sizeof(p->link);
	struct block b = {
		.type = BLOCK_PACKET,
		.fixed = { p->port, (uint32_t)(p->time_ns >> 32), (uint32_t)p->time_ns,
				link_len + p->captured, link_len + p->len },
		.n_fixed = 5,
		.link = p->link,
		.link_len = link_len,
		.data = p->data,
		.data_len = p->captured,
	};
	uint32_t flags = p->out ? FLAGS_OUT : FLAGS_IN;

	if (p->remark[0] != '\0')
		add_option(&b, OPTION_COMMENT, p->remark, (uint16_t)strlen(p->remark));
	add_option(&b, OPTION_PACKET_FLAGS, &flags, sizeof(flags));
	return write_block(f, &b);
}

bool pcapng_statistics(
		FILE *f, unsigned int port, uint64_t time_ns, uint64_t received, uint64_t missed)
{
	struct block b = {
		.type = BLOCK_STATISTICS,
		.fixed = { port, (uint32_t)(time_ns >> 32), (uint32_t)time_ns },
		.n_fixed = 3,
	};

	add_option(&b, OPTION_STATS_RECEIVED, &received, sizeof(received));
	add_option(&b, OPTION_STATS_DROPPED, &missed, sizeof(missed));
	return write_block(f, &b);
}
