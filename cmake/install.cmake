# What `make install` puts in place, and the package that find_package(stickslip) finds.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/stickslip)

set_target_properties(stickslip_abi PROPERTIES EXPORT_NAME abi)
install(TARGETS stickslip stickslip_abi EXPORT stickslip_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT stickslip_targets NAMESPACE stickslip:: FILE stickslip-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/stickslip-config.cmake.in
  ${PROJECT_BINARY_DIR}/stickslip-config.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stickslip-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stickslip-config.cmake ${PROJECT_BINARY_DIR}/stickslip-config-version.cmake
  cmake/ordering.cmake
  DESTINATION ${package_folder})

install(DIRECTORY include/stickslip DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
install(FILES LICENSE references.bib DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET stickslip_command)
  install(TARGETS stickslip_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES docs/stickslip.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/scenes)
  install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/stickslip)
endif()
