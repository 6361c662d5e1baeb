# Before and after the tests of a build with sanitizers. A process of a test may report something and be killed for another
# reason, or its end be nobody's business: so reports go to a folder (log_path in CMakePresets.json), and whatever lies in there
# at the end is shown and makes ctest fail.
#
#   cmake -D BUILD=<folder> -D WHEN=before|after -P sanitizer_reports.cmake
set(folder "${BUILD}/reports")
if(WHEN STREQUAL "before")
  if(NOT DEFINED ENV{TENURE_SANITIZED})
    message(FATAL_ERROR "Run these tests with ctest --preset asan, or tsan: without it nobody would see reports.")
  endif()
  file(REMOVE_RECURSE "${folder}")
  return()
endif()

file(READ "${BUILD}/not_sanitized.txt" left_out)
message(NOTICE "\nNot run with sanitizers, where they mean nothing:\n${left_out}")
file(GLOB reports "${folder}/*")
foreach(report ${reports})
  execute_process(COMMAND "${CMAKE_COMMAND}" -E cat "${report}")
endforeach()
list(LENGTH reports count)
if(count GREATER 0)
  message(FATAL_ERROR "Sanitizers have reported something, shown above: ${count} files in ${folder}")
endif()
message(NOTICE "Sanitizers have reported nothing.")
