# SPDX-License-Identifier: BSD-3-Clause
# The warnings every C file is built with. Errors in our own builds (presets, Makefile),
# not in a user's `pip install`, where a newer compiler may know a new one. The headers
# are compiled as C++ too, where -Wshadow minds a function named like a struct.
add_library(roast_warnings INTERFACE)
target_compile_options(
  roast_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wundef
            -Wvla
            $<$<COMPILE_LANGUAGE:C>:-Wshadow>
            $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
            $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
            $<$<BOOL:${ROAST_WERROR}>:-Werror>)
