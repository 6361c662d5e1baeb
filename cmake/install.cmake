# libtenure.so, made of the libraries of the folders, and what `cmake --install build/release --prefix P` puts where.
# docs/decisions/17 has the reasons.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(libtenure SHARED)
set_target_properties(libtenure PROPERTIES
  OUTPUT_NAME tenure
  EXPORT_NAME tenure
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
# All of the folders that define what include/ declares; of the others what those use.
foreach(library tenure_base tenure_core tenure_authority tenure_hazelcast tenure_client)
  target_sources(libtenure PRIVATE $<TARGET_OBJECTS:${library}>)
endforeach()
target_link_libraries(libtenure PRIVATE tenure_client tenure_hazelcast)
target_include_directories(libtenure INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(libtenure INTERFACE cxx_std_20)
configure_file(cmake/libtenure.map.in libtenure.map @ONLY)
set_property(TARGET libtenure PROPERTY LINK_DEPENDS "${CMAKE_BINARY_DIR}/libtenure.map")
target_link_options(libtenure PRIVATE "-Wl,--version-script=${CMAKE_BINARY_DIR}/libtenure.map" -Wl,--as-needed)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize") # whose symbols are in the program
  target_link_options(libtenure PRIVATE -Wl,-z,defs)
endif()
add_dependencies(programs libtenure)

install(TARGETS tenured tenure)
install(TARGETS libtenure EXPORT tenure)
install(DIRECTORY include/tenure DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

# find_package(tenure)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/tenure")
install(EXPORT tenure NAMESPACE tenure:: FILE tenure-targets.cmake DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/tenure-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES cmake/tenure-config.cmake "${CMAKE_BINARY_DIR}/tenure-config-version.cmake" DESTINATION "${package}")

# pkg-config tenure
file(RELATIVE_PATH up "/P/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/P")
configure_file(cmake/tenure.pc.in tenure.pc @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/tenure.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES README.md LICENSE THIRD-PARTY-NOTICES.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DOCDIR}" PATTERN "*_test.py" EXCLUDE
  PATTERN CMakeLists.txt EXCLUDE)
