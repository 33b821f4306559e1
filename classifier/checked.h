/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine under observation: every answer is compared with that of linear. For trying out engines
 * before anything is measured of them; slow. One at a time, one thread.
 */
#pragma once

#include "classifier/classifier.h"

#define CLS_CHECKED_NAME "checked"

/**
 * cls_checked_begin() - from now on there is an engine CLS_CHECKED_NAME that watches @subject
 *
 * Forgets what was seen before. NULL: there is none any more.
 */
void cls_checked_begin(const struct sl_cls_ops *subject);

/* [internal] the watching engine, NULL: none */
const struct sl_cls_ops *cls_checked_engine(void);

/* answers compared so far */
uint64_t cls_checked_answers(void);

/* what differed first: rules, key, the answer and the right one; NULL: nothing */
const char *cls_checked_fault(void);

/**
 * cls_check_random() - random sets of rules, and keys at their corners, both families
 *
 * Return: what differed first, as cls_checked_fault(), valid until the next call; NULL: nothing.
 * *answers: how many were compared.
 */
const char *cls_check_random(const struct sl_cls_ops *subject, uint64_t seed, uint64_t *answers);
