# The console, built once for all presets, and again when its sources change. Sets TENURE_CONSOLE, the folder of its
# compressed files, and TENURE_CONSOLE_FILES.
set(TENURE_CONSOLE "${PROJECT_SOURCE_DIR}/build/console")
set(TENURE_CONSOLE_FILES "")
foreach(name index.html console.js console.css console.svg)
  list(APPEND TENURE_CONSOLE_FILES "${TENURE_CONSOLE}/${name}.gz")
endforeach()
file(GLOB_RECURSE console_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/src/*")
foreach(name build build.mjs package.json package-lock.json)
  list(APPEND console_sources "${CMAKE_CURRENT_LIST_DIR}/${name}")
endforeach()
add_custom_command(OUTPUT ${TENURE_CONSOLE_FILES}
  COMMAND "${CMAKE_CURRENT_LIST_DIR}/build" "${TENURE_CONSOLE}"
  DEPENDS ${console_sources}
  COMMENT "Building the console"
  VERBATIM)
