# Writes OUTPUT with the version and the commit of SOURCE_DIR, only when they have changed.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#pragma once
#define COTILLION_VERSION \"${VERSION}\"
#define COTILLION_COMMIT \"${commit}\"
")
