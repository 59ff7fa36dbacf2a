# One google-benchmark program per file below bench/: bench/kernels/ldlt.cpp becomes bench/ldlt in the build tree.
# Kernels are timed alone, so the programs see src. scripts/run-bench runs them all.
find_package(benchmark REQUIRED)
file(GLOB_RECURSE programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
list(FILTER programs EXCLUDE REGEX "/bench/(ida|peers)/")
add_custom_target(bench_programs)
if(TARGET stickslip_command)
  add_dependencies(bench_programs stickslip_command)  # bench/steps.py counts its instructions
endif()
foreach(program ${programs})
  get_filename_component(name ${program} NAME_WE)
  add_executable(bench_${name} ${program})
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(bench_${name} PRIVATE STICKSLIP_SCENES="${PROJECT_SOURCE_DIR}/scenes")
  target_link_libraries(bench_${name} PRIVATE stickslip stickslip_flags fmt::fmt benchmark::benchmark_main)
  add_dependencies(bench_programs bench_${name})
endforeach()

# CHOLMOD's supernodal factor (GPL) is only ever timed beside ours, never linked into the library or the command.
find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
find_library(CHOLMOD_LIBRARY cholmod)
if(CHOLMOD_INCLUDE_DIR AND CHOLMOD_LIBRARY)
  target_include_directories(bench_ldlt SYSTEM PRIVATE ${CHOLMOD_INCLUDE_DIR})
  target_compile_definitions(bench_ldlt PRIVATE STICKSLIP_BENCH_CHOLMOD)
  target_link_libraries(bench_ldlt PRIVATE ${CHOLMOD_LIBRARY})
endif()

# SUNDIALS IDA beside our methods between events; built where libsundials-dev (tier oracles of scripts/install-deps) is there.
find_path(SUNDIALS_INCLUDE_DIR ida/ida.h)
set(sundials)
foreach(part ida nvecserial sunmatrixdense sunlinsoldense generic)
  find_library(SUNDIALS_${part}_LIBRARY sundials_${part})
  list(APPEND sundials ${SUNDIALS_${part}_LIBRARY})
endforeach()
if(SUNDIALS_INCLUDE_DIR AND SUNDIALS_ida_LIBRARY)
  add_executable(bench_ida ${PROJECT_SOURCE_DIR}/bench/ida/ida.cpp)
  set_target_properties(bench_ida PROPERTIES OUTPUT_NAME ida RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_include_directories(bench_ida PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(bench_ida SYSTEM PRIVATE ${SUNDIALS_INCLUDE_DIR})
  target_link_libraries(bench_ida PRIVATE stickslip stickslip_flags ${sundials})
  add_dependencies(bench_programs bench_ida)
endif()
