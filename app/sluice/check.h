/* SPDX-License-Identifier: BSD-3-Clause */
/* `sluice check`: read a configuration and everything that it names, touch nothing. */
#pragma once

int check_main(int argc, char **argv);
