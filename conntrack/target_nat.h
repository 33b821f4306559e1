/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "classifier/ext.h"

extern const struct ipt_target_ops ct_target_snat_ops;
extern const struct ipt_target_ops ct_target_dnat_ops;
extern const struct ipt_target_ops ct_target_masquerade_ops;
extern const struct ipt_target_ops ct_target_redirect_ops;
extern const struct ipt_target_ops ct_target_netmap_ops;
