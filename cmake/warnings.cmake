# SPDX-License-Identifier: BSD-3-Clause
# The warnings every C file is built with. Errors in our own builds (presets), not in a
# user's `pip install`, where a newer compiler may know a new one.
add_library(roast_warnings INTERFACE)
target_compile_options(
  roast_warnings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
            -Wmissing-prototypes -Wundef -Wvla $<$<BOOL:${ROAST_WERROR}>:-Werror>)
