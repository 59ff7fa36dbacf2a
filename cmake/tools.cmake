# Tools that make building faster and are used where they are installed: ccache (by a launcher whose name never changes)
# and the linker mold.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/scripts/launch-compiler)
endif()

find_program(STICKSLIP_MOLD mold)
# g++ knows -fuse-ld=mold since 12.1
if(STICKSLIP_MOLD AND (CMAKE_CXX_COMPILER_ID STREQUAL Clang OR CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1))
  add_link_options(-fuse-ld=mold)
endif()

# HDF5 names curl and crypto among its libraries; a program that calls neither should not load them.
add_link_options(-Wl,--as-needed)
