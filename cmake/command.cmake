# The command `stickslip`. It sees the public headers and its own folder, nothing of src. The build tree has the shape
# of an installation (bin beside share/stickslip/scenes), so `scene:NAME` works from both by the same rule.
find_package(CLI11 REQUIRED)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
add_executable(stickslip_command ${sources})
set_target_properties(stickslip_command PROPERTIES
  OUTPUT_NAME stickslip RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
# As the layers, whose precompiled headers it takes; CMake's own property would say -fPIE for a program.
target_compile_options(stickslip_command PRIVATE -fPIC)
stickslip_precompile(stickslip_command FROM stickslip_base)
stickslip_compile_together(stickslip_command)
# The library that parses the command line takes longer to compile than all the rest of the folder.
set_source_files_properties(${PROJECT_SOURCE_DIR}/cli/main.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_include_directories(stickslip_command PRIVATE ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(stickslip_command PRIVATE
  stickslip stickslip_flags fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/stickslip)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/scenes ${PROJECT_BINARY_DIR}/share/stickslip/scenes SYMBOLIC)
