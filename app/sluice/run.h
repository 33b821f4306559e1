/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* `sluice run`: returns the exit status */
int run_main(int argc, char **argv);
