# The build's vocabulary: a folder says what it is in one line, its sources are found by name.
#
#   tenure_library(DEPENDS <targets>)        every .cc of the folder -> library tenure_<folder>
#   tenure_program(<name> DEPENDS <targets>) every .cc of the folder -> executable <name>
#
# Files named *_test.cc are left out of both; they become the gtest executable <folder>_test. Sources of a target are
# compiled several at a time (CMake's unity build): a name in an unnamed namespace is used once in a folder.

# What the programs are built with: address, thread, or nothing.
set(TENURE_SANITIZED "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,-]*(address|thread)")
  set(TENURE_SANITIZED ${CMAKE_MATCH_1})
endif()

# What `make build`, `make bench` and `make fuzz` build; everything but benchmarks and fuzzers comes with `all`.
add_custom_target(programs)
add_custom_target(benches)
add_custom_target(fuzzers)

# Adds a folder, once it exists.
function(tenure_folder path)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${path}/CMakeLists.txt")
    add_subdirectory(${path})
  endif()
endfunction()

# Parses common headers once for all targets of a kind: the first one of the kind makes them, the others reuse them.
function(tenure_precompile target header)
  get_property(maker GLOBAL PROPERTY TENURE_MAKER_OF_${header})
  if(maker)
    target_precompile_headers(${target} REUSE_FROM ${maker})
  else()
    target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/${header}")
    set_property(GLOBAL PROPERTY TENURE_MAKER_OF_${header} ${target})
  endif()
endfunction()

# Sets `found` to those sources that mention planted bugs (src/base/planted.h).
function(tenure_find_planted found)
  set(mentioning "")
  foreach(source ${ARGN})
    file(STRINGS "${source}" mentions REGEX "is_planted")
    if(mentions)
      list(APPEND mentioning "${source}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    endif()
  endforeach()
  set(${found} ${mentioning} PARENT_SCOPE)
endfunction()

# Splits the .cc files of `folder` into sources and tests, re-globbed at every build.
function(tenure_glob folder sources tests)
  file(GLOB all CONFIGURE_DEPENDS "${folder}/*.cc")
  set(found_tests ${all})
  list(FILTER all EXCLUDE REGEX "_test\\.cc$")
  list(FILTER found_tests INCLUDE REGEX "_test\\.cc$")
  set(${sources} ${all} PARENT_SCOPE)
  set(${tests} ${found_tests} PARENT_SCOPE)
endfunction()

# The messages and calls of a .proto of this folder as a library, as protoc writes them: when configuring, for lint never
# builds. What it writes is not ours to warn about.
function(tenure_messages name proto)
  find_package(Protobuf REQUIRED)
  find_package(gRPC CONFIG REQUIRED)
  find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
  get_filename_component(stem "${proto}" NAME_WE)
  get_filename_component(proto "${proto}" ABSOLUTE)
  get_filename_component(folder "${proto}" DIRECTORY)
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${proto}")
  if("${proto}" IS_NEWER_THAN "${generated}/${stem}.grpc.pb.cc")
    file(MAKE_DIRECTORY "${generated}")
    execute_process(
      COMMAND "${Protobuf_PROTOC_EXECUTABLE}" --cpp_out=${generated} --grpc_out=${generated}
        --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} -I "${folder}" "${proto}"
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  add_library(${name} STATIC EXCLUDE_FROM_ALL "${generated}/${stem}.pb.cc" "${generated}/${stem}.grpc.pb.cc")
  target_include_directories(${name} SYSTEM PUBLIC "${generated}")
  target_link_libraries(${name} PUBLIC gRPC::grpc++ protobuf::libprotobuf)
  target_compile_options(${name} PRIVATE -w)
endfunction()

# One gtest executable; ctest shows each of its tests, or of those that match FILTER, as <prefix>.<Suite>.<test>, under `label`.
function(tenure_gtest name prefix label)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "FILTER" "SOURCES;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  # What tests share is compiled alone, for lint, which leaves out tests.
  set(helpers ${arg_SOURCES})
  list(FILTER helpers EXCLUDE REGEX "_test\\.cc$")
  set_source_files_properties(${helpers} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} GTest::gmock_main rapidcheck_gtest)
  # Tests are most of what is compiled: what they test is optimized, they themselves need not be.
  target_compile_options(${name} PRIVATE -O0 -g1)
  tenure_precompile(${name} precompiled_tests.h)
  # Sanitizers make tests many times slower, so the limit is for hangs only.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${prefix}." TEST_FILTER "${arg_FILTER}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTIES LABELS ${label} TIMEOUT 1200)
endfunction()

# Leaves tests out of a build with sanitizers, where they mean nothing: ctest shows them as disabled, and why at its end.
function(tenure_not_sanitized why)
  if(TENURE_SANITIZED)
    set_tests_properties(${ARGN} PROPERTIES DISABLED ON)
    tenure_tell_not_sanitized("${why}" ${ARGN})
  endif()
endfunction()

# Only says so; for what is a part of a test.
function(tenure_tell_not_sanitized why)
  foreach(test ${ARGN})
    set_property(GLOBAL APPEND_STRING PROPERTY TENURE_NOT_SANITIZED "  ${test}: ${why}\n")
  endforeach()
endfunction()

# Makes ctest fail where a sanitizer has reported something, whatever became of the process: see sanitizer_reports.cmake.
function(tenure_look_for_reports)
  if(NOT TENURE_SANITIZED)
    return()
  endif()
  get_property(left_out GLOBAL PROPERTY TENURE_NOT_SANITIZED)
  file(WRITE "${CMAKE_BINARY_DIR}/not_sanitized.txt" "${left_out}")
  set(script "\\\"${CMAKE_COMMAND}\\\" -D \\\"BUILD=${CMAKE_BINARY_DIR}\\\"")
  set(file "-P \\\"${PROJECT_SOURCE_DIR}/cmake/sanitizer_reports.cmake\\\"")
  file(WRITE "${CMAKE_BINARY_DIR}/CTestCustom.cmake"
    "set(CTEST_CUSTOM_PRE_TEST \"${script} -D WHEN=before ${file}\")\n"
    "set(CTEST_CUSTOM_POST_TEST \"${script} -D WHEN=after ${file}\")\n")
endfunction()

function(tenure_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "DEPENDS")
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  set(name tenure_${folder})
  tenure_glob("${CMAKE_CURRENT_SOURCE_DIR}" sources tests)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC ${arg_DEPENDS})
    # Objects of their own, which those with planted bugs take the place of.
    tenure_find_planted(planted ${sources})
    set_source_files_properties(${planted} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    tenure_precompile(${name} precompiled.h)
    # Its own tests link all of it, so that coverage sees the files that no test uses.
    set(tested "$<LINK_LIBRARY:WHOLE_ARCHIVE,${name}>")
  else() # headers only
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${arg_DEPENDS})
    set(tested ${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY TENURE_LIBRARIES ${name})
  if(tests)
    tenure_gtest(${folder}_test ${folder} unit SOURCES ${tests} DEPENDS ${tested})
  endif()
endfunction()

function(tenure_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  tenure_glob("${CMAKE_CURRENT_SOURCE_DIR}" sources tests)
  # Everything but main.cc is a library, for the program and its tests.
  set(parts ${name}-parts)
  set(main ${sources})
  list(FILTER main INCLUDE REGEX "/main\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(${parts} STATIC ${sources})
  target_include_directories(${parts} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${parts} PUBLIC ${arg_DEPENDS})
  tenure_find_planted(planted ${sources})
  set_source_files_properties(${planted} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  tenure_precompile(${parts} precompiled.h)
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${parts})
  tenure_precompile(${name} precompiled.h)
  add_dependencies(programs ${name})
  if(tests)
    tenure_gtest(${folder}_test ${folder} unit SOURCES ${tests} DEPENDS ${parts})
  endif()
endfunction()
