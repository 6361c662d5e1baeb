# find_package(tenure): the target tenure::tenure. What the library is made of is its own business.
include("${CMAKE_CURRENT_LIST_DIR}/tenure-targets.cmake")
