/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * esp and ah. ESP, and AH in IPv4, are the protocol of the packet; in IPv6 AH is one of the extension
 * headers, wherever it stands.
 */
#include "classifier/ip6_header.h"
#include "classifier/match_ext.h"

#include <netinet/in.h>

struct esp_header {
	rte_be32_t spi_be;
	rte_be32_t seq_be;
};

struct ah_header {
	uint8_t next;
	uint8_t len; /* in units of 4 bytes, 2 less than there are */
	rte_be16_t reserved_be;
	rte_be32_t spi_be;
	rte_be32_t seq_be;
};

static uint32_t ah_len(const struct ah_header *h)
{
	return (h->len + 2U) * 4;
}

static bool in_range(struct ipt_range32 r, rte_be32_t spi_be, bool inv)
{
	uint32_t spi = rte_be_to_cpu_32(spi_be);

	return (spi >= r.lo && spi <= r.hi) != inv;
}

static bool read_header(struct ipt_ctx *c, void *buf, uint32_t len)
{
	if (sl_pkt_copy(c->m, c->thoff, len, buf))
		return true;
	c->hotdrop = true;
	return false;
}

static bool esp_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_esp *e = match->data;
	struct esp_header h;

	if (c->fragoff != 0 || !read_header(c, &h, sizeof(h)))
		return false;
	return !(match->set & IPT_ESP_SPI) || in_range(e->spi, h.spi_be, match->inv & IPT_ESP_SPI);
}

static bool ah_match4(struct ipt_ctx *c, struct ah_header *h)
{
	return c->fragoff == 0 && read_header(c, h, sizeof(*h));
}

static bool ah_match6(struct ipt_ctx *c, struct ah_header *h)
{
	uint32_t off;

	if (!ip6_header_find(c, IPPROTO_AH, &off) || !ip6_header_read(c, off, sizeof(*h), h))
		return false;
	/* in IPv6 it has to be whole */
	if (c->m->pkt_len - off >= ah_len(h))
		return true;
	c->hotdrop = true;
	return false;
}

static bool ah_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_ah *a = match->data;
	struct ah_header h;

	if (c->family == IPT_V4 ? !ah_match4(c, &h) : !ah_match6(c, &h))
		return false;
	if (match->set & IPT_AH_SPI && !in_range(a->spi, h.spi_be, match->inv & IPT_AH_SPI))
		return false;
	/* a length of 0 is no test, not even behind `!` */
	if (match->set & IPT_AH_LEN && a->len_bytes != 0
			&& (a->len_bytes == ah_len(&h)) == !!(match->inv & IPT_AH_LEN))
		return false;
	return !(match->set & IPT_AH_RES) || h.reserved_be == 0;
}

const struct ipt_match_ops ipt_match_ah_ops = { .kind = IPT_M_AH, .match = ah_match };
const struct ipt_match_ops ipt_match_esp_ops = { .kind = IPT_M_ESP, .match = esp_match };
