/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* `sluice doctor`: what this machine has for sluice, what it lacks, and what mends it */
int doctor_main(int argc, char **argv);
