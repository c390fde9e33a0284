# One function for each kind of target:
#
#   cordon_component  a folder of src/ and its unit tests       cordon_bench    a benchmark
#   cordon_test       a test suite below tests/                 cordon_fuzzer   a libFuzzer target
#   cordon_program    a child program the tests run             cordon_example  an example

set(CORDON_TEST_TIMEOUT 60) # seconds a single test may take
set(CORDON_TEST_PROGRAMS_DIR "${PROJECT_BINARY_DIR}/tests/programs")
if(CORDON_BUILD_TESTS)
  add_custom_target(cordon_test_programs) # all the child programs
endif()

# Adds a folder of this project once something is in it.
function(cordon_add_if_present dir)
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt")
    add_subdirectory("${dir}")
  endif()
endfunction()

# cordon_component(NAME base SOURCES a.cc … [DEPENDS request …] [LINK lib …]
#                  [TESTS a_test.cc …] [TEST_LINK lib …])
#
# Makes the internal library cordon_<NAME> and puts its objects into the installed library.
# DEPENDS names components, and only those are linked into the unit tests <NAME>_test: a
# dependency against the arrow does not link. LINK names other libraries.
function(cordon_component)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;DEPENDS;LINK;TESTS;TEST_LINK")
  set(target "cordon_${arg_NAME}")
  list(TRANSFORM arg_DEPENDS PREPEND cordon_ OUTPUT_VARIABLE depends)

  add_library(${target} STATIC ${arg_SOURCES})
  target_include_directories(${target} PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target}
    PUBLIC ${depends} ${arg_LINK} Boost::headers Boost::json fmt::fmt-header-only Threads::Threads
    PRIVATE cordon_options cordon_traced)
  target_sources(cordon PRIVATE "$<TARGET_OBJECTS:${target}>")

  if(CORDON_BUILD_TESTS AND arg_TESTS)
    cordon_gtest(${arg_NAME} unit "${arg_TESTS}" "${target};${arg_TEST_LINK}" ${CORDON_TEST_TIMEOUT})
  endif()
  # Sanitizers bring calls of their own.
  if(CORDON_BUILD_TESTS AND NOT CORDON_SANITIZE AND NOT arg_NAME MATCHES "^backend_")
    add_test(NAME layering.${arg_NAME}
      COMMAND "${PROJECT_SOURCE_DIR}/tools/lint/process-symbols" "$<TARGET_FILE:${target}>")
    set_tests_properties(layering.${arg_NAME} PROPERTIES LABELS unit TIMEOUT 10)
  endif()
endfunction()

# cordon_test(NAME conformance SOURCES … [LABELS conformance …] [LINK lib …] [TIMEOUT seconds])
#
# Makes the GoogleTest program <NAME>_test against the whole library; each of its tests is
# a test of ctest, named <NAME>.Suite.Case. The label is NAME unless given.
function(cordon_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT" "SOURCES;LABELS;LINK")
  if(NOT arg_LABELS)
    set(arg_LABELS ${arg_NAME})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${CORDON_TEST_TIMEOUT})
  endif()
  cordon_gtest(${arg_NAME} "${arg_LABELS}" "${arg_SOURCES}" "${arg_LINK};cordon" ${arg_TIMEOUT})
endfunction()

# cordon_test_objects(NAME name SOURCES …): sources of several such programs, compiled once; each
# has the name among its LINK.
function(cordon_test_objects)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES")
  add_library(${arg_NAME} OBJECT ${arg_SOURCES})
  cordon_test_settings(${arg_NAME})
  target_link_libraries(${arg_NAME} PRIVATE cordon)
endfunction()

# How all of them are compiled.
function(cordon_test_settings target)
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE
    cordon_test_options Boost::json fmt::fmt-header-only GTest::gmock GTest::gmock_main)
  target_compile_definitions(${target} PRIVATE
    "CORDON_TEST_PROGRAMS_DIR=\"${CORDON_TEST_PROGRAMS_DIR}\"")
  add_dependencies(${target} cordon_test_programs)
endfunction()

# The common part of the two above.
function(cordon_gtest name labels sources libraries timeout)
  set(target "${name}_test")
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE ${libraries})
  cordon_test_settings(${target})
  gtest_discover_tests(${target}
    TEST_PREFIX "${name}."
    NO_PRETTY_VALUES
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${timeout})
  # The properties above cannot hold a list; labels are set when ctest has read the tests.
  set(labels_file "${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake")
  file(WRITE "${labels_file}"
    "set_tests_properties(\${${target}_TESTS} PROPERTIES LABELS \"${labels}\")\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels_file}")
endfunction()

# cordon_program(name file.cc … [STATIC]): a tiny program the tests run, found below
# CORDON_TEST_PROGRAMS_DIR. Never built with sanitizers: it has to live within small limits.
function(cordon_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC" "" "")
  set(target "program_${name}")
  add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
  target_compile_features(${target} PRIVATE cxx_std_23)
  target_link_libraries(${target} PRIVATE cordon_warnings Threads::Threads)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${CORDON_TEST_PROGRAMS_DIR}")
  if(arg_STATIC)
    target_link_options(${target} PRIVATE -static)
  endif()
  add_dependencies(cordon_test_programs ${target})
endfunction()

# cordon_bench(name file.cc): the program <name>_bench, which reports figures (bench/support/) and
# is run by `make bench`.
function(cordon_bench name file)
  set(target "${name}_bench")
  add_executable(${target} ${file})
  target_link_libraries(${target} PRIVATE cordon cordon_options cordon_bench_support)
endfunction()

# cordon_fuzzer(name file.cc): the libFuzzer program <name>_fuzzer, run for a few seconds by
# ctest (label fuzz). Seeds are in corpus/<name>/ beside the file; an input that once broke
# something belongs there too.
function(cordon_fuzzer name file)
  set(target "${name}_fuzzer")
  set(work "${CMAKE_CURRENT_BINARY_DIR}/${name}.work")
  set(seeds "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name}")
  add_executable(${target} ${file})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target} PRIVATE cordon cordon_options Boost::json fmt::fmt-header-only)
  # libFuzzer declares its entry point in no header.
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  file(MAKE_DIRECTORY "${work}")
  if(NOT EXISTS "${seeds}")
    set(seeds "")
  endif()
  if(CORDON_BUILD_TESTS)
    add_test(NAME fuzz.${name} COMMAND ${target}
      -max_total_time=5 -timeout=5 -print_final_stats=1 "-artifact_prefix=${work}/"
      "${work}" ${seeds})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT ${CORDON_TEST_TIMEOUT})
  endif()
endfunction()

# cordon_example(name file.cc): examples/<name>, built against the public headers alone and
# run by ctest (labels example and docs): it must exit with 0.
function(cordon_example name file)
  set(target "example_${name}")
  add_executable(${target} ${file})
  target_link_libraries(${target} PRIVATE cordon::cordon cordon_options)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
  if(CORDON_BUILD_TESTS)
    add_test(NAME example.${name} COMMAND ${target})
    set_tests_properties(example.${name} PROPERTIES
      LABELS "example;docs" TIMEOUT ${CORDON_TEST_TIMEOUT})
  endif()
endfunction()

# cordon_command(SOURCES main.cc … [LINK lib …]): the command, target cordon_app, file cordon.
function(cordon_command)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "SOURCES;LINK")
  add_executable(cordon_app ${arg_SOURCES})
  target_include_directories(cordon_app PRIVATE
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/apps/cordon")
  target_link_libraries(cordon_app PRIVATE
    cordon cordon_options ${arg_LINK} Boost::json fmt::fmt-header-only CLI11::CLI11)
  set_target_properties(cordon_app PROPERTIES OUTPUT_NAME cordon)
  if(CORDON_STATIC_COMMAND)
    target_sources(cordon_app PRIVATE no_loading.cc)
    target_link_options(cordon_app PRIVATE -static-pie
      LINKER:--wrap=dlopen,--wrap=dlsym,--wrap=dlclose,--wrap=dlerror)
  elseif(NOT CORDON_SANITIZE)
    target_link_options(cordon_app PRIVATE -static-libstdc++ -static-libgcc LINKER:--as-needed)
  endif()
endfunction()
