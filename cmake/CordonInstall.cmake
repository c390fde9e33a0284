# What `cmake --install` puts where: library, headers, package files, the command.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cordon")

install(TARGETS cordon EXPORT cordonTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/cordon"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(EXPORT cordonTargets NAMESPACE cordon:: DESTINATION "${package_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/cordonConfig.cmake.in" "${PROJECT_BINARY_DIR}/cordonConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/cordonConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/cordonConfig.cmake" "${PROJECT_BINARY_DIR}/cordonConfigVersion.cmake"
  DESTINATION "${package_dir}")

# Relative to where it is found, so that an installed tree can be moved.
file(RELATIVE_PATH relative_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" relative_prefix "${relative_prefix}")
configure_file(
  "${PROJECT_SOURCE_DIR}/cmake/cordon.pc.in" "${PROJECT_BINARY_DIR}/cordon.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cordon.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(TARGET cordon_app)
  install(TARGETS cordon_app RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

  set(completions "${PROJECT_SOURCE_DIR}/apps/cordon/completions")
  if(EXISTS "${completions}/cordon.bash")
    install(FILES "${completions}/cordon.bash" RENAME cordon
      DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  endif()
  if(EXISTS "${completions}/_cordon")
    install(FILES "${completions}/_cordon"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  endif()
  if(EXISTS "${completions}/cordon.fish")
    install(FILES "${completions}/cordon.fish"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  endif()
endif()
