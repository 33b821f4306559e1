/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches and targets on the connection of a packet; app/sluice/extensions.c lists them. */
#pragma once

#include "classifier/ext.h"
#include "classifier/ipt_match_ct.h"
#include "conntrack/table.h"

extern const struct ipt_match_ops ipt_match_cluster_ops;
extern const struct ipt_match_ops ipt_match_connbytes_ops;
extern const struct ipt_match_ops ipt_match_connlabel_ops;
extern const struct ipt_match_ops ipt_match_connlimit_ops;
extern const struct ipt_match_ops ipt_match_connmark_ops;
extern const struct ipt_match_ops ipt_match_conntrack_ops;
extern const struct ipt_match_ops ipt_match_helper_ops;
extern const struct ipt_match_ops ipt_match_state_ops;

extern const struct ipt_target_ops ipt_target_connmark_ops;
extern const struct ipt_target_ops ipt_target_ct_ops;
extern const struct ipt_target_ops ipt_target_hmark_ops;
extern const struct ipt_target_ops ipt_target_notrack_ops;

/*
 * What a CT target left on a packet looks like a connection to rules of raw behind it: of no
 * protocol, confirmed, over at once.
 */
extern const struct ct_entry ct_ext_template;

/* the connection that rules see; NULL: none */
static inline const struct ct_entry *ct_ext_entry(const struct sl_pkt *p)
{
	return p->flags & SL_PKT_CT_TEMPLATE ? &ct_ext_template : p->ct;
}

/* of an expected connection the one that announced it, which may be over; NULL: none */
const struct ct_entry *ct_ext_master(const struct ipt_ctx *c, const struct ct_entry *e);

/* the shard of a packet that has a connection [worker] */
struct ct_shard *ct_ext_shard(const struct ipt_ctx *c);
