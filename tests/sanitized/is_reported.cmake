# Lets PROGRAM do what the sanitizer of that KIND must report, into a folder of its own below BUILD: then SCRIPT, which ctest
# runs after all tests, must fail and show it; and must not fail before.
file(REMOVE_RECURSE "${BUILD}")
file(WRITE "${BUILD}/not_sanitized.txt" "")
set(look "${CMAKE_COMMAND}" -D "BUILD=${BUILD}" -D WHEN=after -P "${SCRIPT}")

execute_process(COMMAND ${look} RESULT_VARIABLE status OUTPUT_VARIABLE told ERROR_VARIABLE told)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${KIND}: nothing was reported, and yet: ${told}")
endif()

set(options)
foreach(name ASAN_OPTIONS TSAN_OPTIONS)
  list(APPEND options "${name}=$ENV{${name}}:log_path=${BUILD}/reports/of")
endforeach()
execute_process(COMMAND "${CMAKE_COMMAND}" -E env ${options} "${PROGRAM}" ${KIND} OUTPUT_VARIABLE told ERROR_VARIABLE told)
execute_process(COMMAND ${look} RESULT_VARIABLE status OUTPUT_VARIABLE told ERROR_VARIABLE told)
if(status EQUAL 0 OR NOT told MATCHES "(AddressSanitizer|runtime error|ThreadSanitizer)")
  message(FATAL_ERROR "${KIND}: it was not noticed: ${told}")
endif()
