# How our own code is compiled: warnings, sanitizers, ccache. Nothing here reaches a consumer.

include(CMakeDependentOption)

# Imported targets must be visible to a project that adds Cordon with add_subdirectory.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()

  # Paths relative to the source tree, so that work trees share one compiler cache.
  find_program(CORDON_CCACHE ccache)
  if(CORDON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${CORDON_CCACHE}")
  endif()
endif()

# Warnings: for every target of ours, the tests' child programs included.
add_library(cordon_warnings INTERFACE)
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(cordon_warnings INTERFACE
    -Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
    -Woverloaded-virtual -Wcast-align -Wcast-qual -Wformat=2 -Wimplicit-fallthrough -Wextra-semi
    -Wundef -Wunused
    # Plain data is filled with designated initializers; what is not named keeps its default.
    -Wno-missing-field-initializers
    "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(cordon_warnings INTERFACE
      -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wmissing-declarations
      # False alarms of g++-12: in std::string (GCC bug 105651), and at Asio's coroutines, whose
      # operator new ends in an inlined aligned_alloc.
      -Wno-restrict -Wno-mismatched-new-delete)
  else()
    # Part of -Wconversion with clang only; both compilers should accept the same code.
    target_compile_options(cordon_warnings INTERFACE -Wno-sign-conversion -Wmissing-prototypes)
  endif()
endif()

# Everything else that our library and its tests are built with.
add_library(cordon_options INTERFACE)
target_link_libraries(cordon_options INTERFACE cordon_warnings)
target_compile_features(cordon_options INTERFACE cxx_std_23)
if(CORDON_SANITIZE)
  set(flags "-fsanitize=${CORDON_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(cordon_options INTERFACE ${flags})
  target_link_options(cordon_options INTERFACE ${flags})
endif()
if(CORDON_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "CORDON_BUILD_FUZZERS needs clang; use the preset 'asan'")
  endif()
  target_link_options(cordon_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# What the fuzzers are to find their way through: the library's code, not the tests'.
add_library(cordon_traced INTERFACE)
if(CORDON_BUILD_FUZZERS)
  target_compile_options(cordon_traced INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Tests are compiled oftener than anything else and hardly spend time of their own. With sanitizers
# most of a build would be spent on optimising them: 10 s for a file in place of 4.
add_library(cordon_test_options INTERFACE)
target_link_libraries(cordon_test_options INTERFACE cordon_options)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(cordon_test_options INTERFACE -g1)
endif()
if(CORDON_SANITIZE)
  target_compile_options(cordon_test_options INTERFACE -O0)
endif()

# A command without shared libraries starts much sooner (docs/decisions/030-static-command.md).
# Sanitizers need theirs, and not every system has a C library to be linked statically.
if(CORDON_BUILD_APPS AND NOT CORDON_SANITIZE)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie)
  check_cxx_source_compiles("#include <thread>
    int main() { std::thread([] {}).join(); }" CORDON_CAN_LINK_STATICALLY)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()
cmake_dependent_option(CORDON_STATIC_COMMAND "Link the cordon command statically" ON
  "CORDON_CAN_LINK_STATICALLY" OFF)
