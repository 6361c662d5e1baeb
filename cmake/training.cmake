# Programs that are compiled by what the server does under load (docs/decisions/25): a build with TENURE_TRAINING=gather
# notes what runs how often, one with TENURE_TRAINING=use is compiled by those notes. scripts/train makes the notes.
set(TENURE_TRAINING "" CACHE STRING "gather: note what runs; use: compile by the notes; empty: neither")
set(training_notes "${PROJECT_SOURCE_DIR}/build/training/notes")

if(TENURE_TRAINING STREQUAL "gather")
  add_compile_options(-fprofile-generate=${training_notes} -fprofile-prefix-path=${CMAKE_BINARY_DIR}
                      -fprofile-update=atomic)
  add_link_options(-fprofile-generate)
elseif(TENURE_TRAINING STREQUAL "use")
  # What never ran is compiled as without notes: a start from an old journal is rare, and still to be quick.
  add_compile_options(-fprofile-use=${training_notes} -fprofile-prefix-path=${CMAKE_BINARY_DIR}
                      -fprofile-partial-training -Wno-missing-profile)
  # Inlining by the notes lets g++ warn of ways through other people's headers that are never taken. The same code
  # passes with all warnings as errors in the preset release.
  set(training_warnings -Wno-error -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
  add_compile_options(${training_warnings})
  # A program with this property is optimized as a whole when it is linked; for all of them that would take too long.
  add_compile_options(-flto=auto -ffat-lto-objects)
  add_link_options("$<IF:$<BOOL:$<TARGET_PROPERTY:TENURE_OPTIMIZED_WHOLE>>,-flto=auto;${training_warnings},-fno-lto>")
elseif(TENURE_TRAINING)
  message(FATAL_ERROR "TENURE_TRAINING: expected gather, use, or nothing, found ${TENURE_TRAINING}.")
endif()
