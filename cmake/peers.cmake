# Drivers of bench/peers: ours, what measures the results, and one for each other engine that is installed
# (tier oracles of scripts/install-deps). `make bench-peers` switches this on.
add_custom_target(bench_peers)

function(stickslip_peer name)
  add_executable(bench_peer_${name} ${PROJECT_SOURCE_DIR}/bench/peers/${name}.cpp)
  set_target_properties(bench_peer_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench/peers)
  target_link_libraries(bench_peer_${name} PRIVATE stickslip_flags Eigen3::Eigen nlohmann_json::nlohmann_json ${ARGN})
  add_dependencies(bench_peers bench_peer_${name})
endfunction()

stickslip_peer(stickslip stickslip)
stickslip_peer(measure)

find_path(BULLET64_INCLUDE_DIR btBulletDynamicsCommon.h PATH_SUFFIXES bullet)
find_library(BULLET64_DYNAMICS BulletDynamics-float64)
find_library(BULLET64_COLLISION BulletCollision-float64)
find_library(BULLET64_MATH LinearMath-float64)
if(BULLET64_INCLUDE_DIR AND BULLET64_DYNAMICS AND BULLET64_COLLISION AND BULLET64_MATH)
  stickslip_peer(bullet ${BULLET64_DYNAMICS} ${BULLET64_COLLISION} ${BULLET64_MATH})
  target_include_directories(bench_peer_bullet SYSTEM PRIVATE ${BULLET64_INCLUDE_DIR})
  target_compile_definitions(bench_peer_bullet PRIVATE BT_USE_DOUBLE_PRECISION)
endif()

foreach(engine ode mujoco)
  string(TOUPPER ${engine} upper)
  find_path(${upper}_INCLUDE_DIR ${engine}/${engine}.h)
  find_library(${upper}_LIBRARY ${engine})
  if(${upper}_INCLUDE_DIR AND ${upper}_LIBRARY)
    stickslip_peer(${engine} ${${upper}_LIBRARY})
    target_include_directories(bench_peer_${engine} SYSTEM PRIVATE ${${upper}_INCLUDE_DIR})
  endif()
endforeach()
