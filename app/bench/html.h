/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the HTML page that do not depend on what was measured. */
#pragma once

#include <stdio.h>

/* up to the body's start, styles and all */
extern const char html_head[];
/* what is measured and what not, in plain words */
extern const char html_method[];

/* text with &, <, > and " replaced */
void html_text(FILE *out, const char *text);
