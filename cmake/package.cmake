# Pages of the manual and completions, made by the programs themselves; and the Debian package, `make deb`, which adds a
# service, its configuration and its user to what `cmake --install` gives.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(made "${CMAKE_BINARY_DIR}/share")
file(MAKE_DIRECTORY "${made}")

function(tenure_page program section)
  set(page "${made}/${program}.${section}.gz")
  set(maker "${PROJECT_SOURCE_DIR}/packaging/man_page.py")
  add_custom_command(OUTPUT "${page}" DEPENDS ${program} "${maker}" VERBATIM
    COMMAND "${Python3_EXECUTABLE}" "${maker}" $<TARGET_FILE:${program}> ${section} "${page}")
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
  set(pages ${pages} "${page}" PARENT_SCOPE)
endfunction()

function(tenure_completion shell folder file)
  set(script "${made}/${file}.${shell}")
  add_custom_command(OUTPUT "${script}" DEPENDS tenure VERBATIM
    COMMAND tenure completion ${shell} > "${script}")
  install(FILES "${script}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}" RENAME "${file}")
  set(pages ${pages} "${script}" PARENT_SCOPE)
endfunction()

set(pages "")
tenure_page(tenured 8)
tenure_page(tenure 1)
# Where the shells of Debian look in packages.
tenure_completion(bash bash-completion/completions tenure)
tenure_completion(zsh zsh/vendor-completions _tenure)
tenure_completion(fish fish/vendor_completions.d tenure.fish)
add_custom_target(pages ALL DEPENDS ${pages})
add_dependencies(programs pages)

# Only in the package.
install(FILES packaging/tenured.conf DESTINATION /etc/tenure COMPONENT system EXCLUDE_FROM_ALL)
install(FILES packaging/tenured.service DESTINATION /lib/systemd/system COMPONENT system EXCLUDE_FROM_ALL)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright COMPONENT system EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tenure)
set(CPACK_PACKAGE_VENDOR "Tenure")
set(CPACK_PACKAGE_CONTACT "Tenure <tenure@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "lease authority: tasks, ordered work and locks, with fences")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Tenure decides who owns a piece of work, until when, and proves it with a
fence. The server tenured talks with any Redis client and over HTTP, and keeps
its journal in a folder; tenure is its command line, libtenure the same
authority within a C++ program, and a client of the server.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};tenure;Unspecified;/;${CMAKE_BINARY_DIR};tenure;system;/")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, init-system-helpers")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "redis-tools, curl, g++, pkg-config")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "")
foreach(file postinst prerm postrm conffiles triggers)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/${file}")
endforeach()
include(CPack)
