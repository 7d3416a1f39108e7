/* SPDX-License-Identifier: BSD-3-Clause */
/* version.h - the version of libroast, in one place.
 *
 * pyproject.toml and CMakeLists.txt read it from here. */
#ifndef ROAST_VERSION_H
#define ROAST_VERSION_H

#define ROAST_VERSION "1.0.0.dev0"

#endif
