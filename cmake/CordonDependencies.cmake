# Third-party packages. tools/setup installs them on Debian 12; cordonConfig.cmake.in repeats
# what the library itself needs.

# Loading shared libraries would be most of the time that a short `cordon run` takes: what can be
# linked statically is. fmt comes without a static library, so it is used as headers only.
if(PROJECT_IS_TOP_LEVEL)
  set(Boost_USE_STATIC_LIBS ON)
endif()
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS headers json)
find_package(fmt CONFIG REQUIRED)
find_package(Threads REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED) # headers only
mark_as_advanced(TOMLPLUSPLUS_INCLUDE_DIR)

if(CORDON_BUILD_APPS AND EXISTS "${PROJECT_SOURCE_DIR}/apps/cordon/CMakeLists.txt")
  find_package(CLI11 CONFIG REQUIRED)
endif()
if(CORDON_BUILD_APPS OR CORDON_BUILD_TESTS)
  # For the index of the audit log, which only the command uses; and linked statically like Boost.
  find_package(SQLite3 REQUIRED)
  find_library(CORDON_STATIC_SQLITE libsqlite3.a REQUIRED)
  add_library(cordon_sqlite INTERFACE)
  target_include_directories(cordon_sqlite SYSTEM INTERFACE ${SQLite3_INCLUDE_DIRS})
  target_link_libraries(cordon_sqlite INTERFACE
    "${CORDON_STATIC_SQLITE}" m ${CMAKE_DL_LIBS} Threads::Threads)
  # For the layers of images and the bundles of MCP servers, likewise.
  find_path(CORDON_ZLIB_INCLUDE_DIR zlib.h REQUIRED)
  find_library(CORDON_STATIC_ZLIB libz.a REQUIRED)
  mark_as_advanced(CORDON_ZLIB_INCLUDE_DIR CORDON_STATIC_ZLIB)
  add_library(cordon_zlib INTERFACE)
  target_include_directories(cordon_zlib SYSTEM INTERFACE "${CORDON_ZLIB_INCLUDE_DIR}")
  target_link_libraries(cordon_zlib INTERFACE "${CORDON_STATIC_ZLIB}")
endif()
if(CORDON_BUILD_TESTS)
  find_package(GTest CONFIG REQUIRED)
  enable_testing()
  include(GoogleTest)
endif()
