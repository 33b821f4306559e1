/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two forms of the linear engine. sl_cls_linear takes the faster one that this CPU can run;
 * tests and benchmarks ask for one or the other.
 */
#pragma once

#include "classifier/classifier.h"

/* plain C: the oracle of all engines */
extern const struct sl_cls_ops cls_linear_plain;
/* needs cls_have_avx2() */
extern const struct sl_cls_ops cls_linear_avx2;

/* whether the objects that were compiled for AVX2, BMI1 and BMI2 may run here */
bool cls_have_avx2(void);
