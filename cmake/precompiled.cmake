# Eigen, fmt and the standard headers, compiled once instead of once per file: about half of the time of most files.
# `stickslip_precompile(target)` compiles them with the flags of that target, `stickslip_precompile(target HEADERS ...)` with
# further headers; `stickslip_precompile(target FROM owner)` takes what the owner has compiled, which must have the same
# flags (g++ checks, and says so by a warning).
option(STICKSLIP_PRECOMPILE "use precompiled headers in our own targets" ON)

set(STICKSLIP_PRECOMPILED
  <algorithm> <array> <chrono> <cmath> <cstdint> <functional> <limits> <map> <memory> <optional> <span> <string>
  <string_view> <utility> <vector> <Eigen/Dense> <fmt/format.h>)

function(stickslip_precompile target)
  cmake_parse_arguments(precompile "" "FROM" "HEADERS" ${ARGN})
  if(NOT STICKSLIP_PRECOMPILE)
    return()
  endif()
  if(precompile_FROM)
    target_precompile_headers(${target} REUSE_FROM ${precompile_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${STICKSLIP_PRECOMPILED} ${precompile_HEADERS})
  endif()
endfunction()

# Several files of a target as one: what they include is read once for all of them, and each waits for its neighbours.
# Their unnamed namespaces become one, so names in them must differ.
option(STICKSLIP_UNITY "compile small files several at a time" ON)

function(stickslip_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${STICKSLIP_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()
