// SPDX-License-Identifier: BSD-3-Clause
/*
 * Programs in the kernel: a source of packets at the first veth pair and a sink at the second.
 *
 * A live frame's page comes back with what the kernel wrote into it: without a new header for every
 * packet the TTL would run out after 63 rounds, and dropping would be measured.
 */
#include "app/bench/live.h"

#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

#define TC_ACT_SHOT 2

struct header {
	unsigned char bytes[LIVE_HEADER_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set before loading: one for each frame */
	__type(key, __u32);
	__type(value, struct header); /* size set before loading, too */
} templates SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LIVE_CAPTURES); /* set before loading: one for each flow, or more */
	__type(key, __u32);
	__type(value, struct live_capture);
} captures SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct live_counts);
} counts SEC(".maps");

const volatile unsigned int options; /* set before loading */

static __always_inline struct live_counts *get_counts(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

/* of the frame, by its IP header */
static __always_inline __u32 frame_len(const unsigned char *frame)
{
	__u32 len = frame[12] == 0x08 ? 14 + (frame[16] << 8 | frame[17])
				      : 54 + (frame[18] << 8 | frame[19]);

	return len < LIVE_HEADER_LEN ? LIVE_HEADER_LEN : len;
}

static __always_inline int write_header(struct xdp_md *ctx, int verdict)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct live_counts *c = get_counts();
	struct header *h;
	__u32 key;

	if (!c || data + LIVE_HEADER_LEN > end)
		return XDP_ABORTED;
	key = c->next;
	h = bpf_map_lookup_elem(&templates, &key);
	if (!h)
		return XDP_ABORTED;
	c->next = key + 1 == c->flows ? 0 : key + 1;
	c->entered++;
	if (options & LIVE_MIXED) {
		__u32 len = frame_len(h->bytes);

		if (data + len < end && bpf_xdp_adjust_tail(ctx, (int)len - (int)(end - data)) != 0)
			return XDP_ABORTED;
		data = (void *)(long)ctx->data;
		end = (void *)(long)ctx->data_end;
		if (data + LIVE_HEADER_LEN > end)
			return XDP_ABORTED;
	}
	if (options & LIVE_WHOLE) {
		__u64 len = bpf_xdp_get_buff_len(ctx);

		if (len < LIVE_HEADER_LEN || len > LIVE_FRAME_MAX)
			return XDP_ABORTED;
		if (bpf_xdp_store_bytes(ctx, 0, h->bytes, len) != 0)
			return XDP_ABORTED;
		return verdict;
	}
	__builtin_memcpy(data, h->bytes, LIVE_HEADER_LEN);
	return verdict;
}

SEC("xdp")
int source(struct xdp_md *ctx)
{
	return write_header(ctx, XDP_PASS);
}

/* the same without the kernel behind it: what the source itself costs */
SEC("xdp")
int source_alone(struct xdp_md *ctx)
{
	return write_header(ctx, XDP_DROP);
}

/* packets of the kernel's own have come in by no interface */
SEC("tc")
int sink(struct __sk_buff *skb)
{
	struct live_counts *c = get_counts();

	if (c && skb->ingress_ifindex != 0)
		c->left++;
	return TC_ACT_SHOT;
}

SEC("tc")
int capture(struct __sk_buff *skb)
{
	struct live_counts *c = get_counts();
	struct live_capture *to;
	__u32 key;

	if (!c || skb->ingress_ifindex == 0)
		return TC_ACT_SHOT;
	c->left++;
	key = c->captured;
	to = bpf_map_lookup_elem(&captures, &key);
	if (to) {
		__u32 n = skb->len < LIVE_CAPTURE_LEN ? skb->len : LIVE_CAPTURE_LEN;

		to->len = skb->len;
		if (n > 0)
			bpf_skb_load_bytes(skb, 0, to->header, n);
		c->captured++;
	}
	return TC_ACT_SHOT;
}

/* on ingress: who has received this? */
SEC("tc")
int identify(struct __sk_buff *skb)
{
	struct live_counts *c = get_counts();

	if (c) {
		c->left++;
		c->napi = skb->napi_id;
	}
	return TC_ACT_SHOT;
}

char license_text[] SEC("license") = "Dual BSD/GPL";
