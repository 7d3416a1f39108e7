# SPDX-License-Identifier: BSD-3-Clause
# -DROAST_SANITIZE=address,undefined builds everything that links libroast with them.
add_library(roast_sanitize INTERFACE)
if(ROAST_SANITIZE)
  set(flags -fsanitize=${ROAST_SANITIZE} -fno-sanitize-recover=all
            -fno-omit-frame-pointer)
  target_compile_options(roast_sanitize INTERFACE ${flags})
  target_link_options(roast_sanitize INTERFACE ${flags})
endif()
