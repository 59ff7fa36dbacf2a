# Orderings of sparse factors: AMD (of SuiteSparse, BSD) and METIS (Apache 2). Debian's packages carry no CMake files.
# Also read by the installed package, which needs no headers: one file of ours includes them (ORDERING_INCLUDE_DIRS).
if(NOT TARGET AMD::AMD)
  find_path(AMD_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse REQUIRED)
  find_library(AMD_LIBRARY amd REQUIRED)
  add_library(AMD::AMD UNKNOWN IMPORTED)
  set_target_properties(AMD::AMD PROPERTIES IMPORTED_LOCATION ${AMD_LIBRARY})
endif()
if(NOT TARGET METIS::METIS)
  find_path(METIS_INCLUDE_DIR metis.h REQUIRED)
  find_library(METIS_LIBRARY metis REQUIRED)
  add_library(METIS::METIS UNKNOWN IMPORTED)
  set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION ${METIS_LIBRARY})
endif()
set(ORDERING_INCLUDE_DIRS ${AMD_INCLUDE_DIR} ${METIS_INCLUDE_DIR})
list(REMOVE_ITEM ORDERING_INCLUDE_DIRS /usr/include)  # searched anyway, and last
