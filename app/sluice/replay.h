/* SPDX-License-Identifier: BSD-3-Clause */
/* `sluice replay`: packets from capture files through the router into capture files. */
#pragma once

int replay_main(int argc, char **argv);
