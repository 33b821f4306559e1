/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of sluice-bench: each takes its own name as argv[0] and returns the exit status. */
#pragma once

int run_main(int argc, char **argv);
int list_main(int argc, char **argv);
int live_main(int argc, char **argv);
int experiment_main(int argc, char **argv);
int compare_main(int argc, char **argv);
int selftest_main(int argc, char **argv);
