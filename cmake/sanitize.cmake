# SPDX-License-Identifier: BSD-3-Clause
# -DROAST_SANITIZE=address,undefined builds everything that links libroast with them;
# -DROAST_FUZZ=ON adds the coverage counters that libFuzzer steers by.
add_library(roast_sanitize INTERFACE)
set(flags)
if(ROAST_SANITIZE)
  list(APPEND flags -fsanitize=${ROAST_SANITIZE} -fno-sanitize-recover=all
       -fno-omit-frame-pointer)
endif()
if(ROAST_FUZZ)
  list(APPEND flags -fsanitize=fuzzer-no-link)
endif()
target_compile_options(roast_sanitize INTERFACE ${flags})
target_link_options(roast_sanitize INTERFACE ${flags})
