# Functions of CMakeLists.txt.

# Parsed once for a room instead of once for each of its sources: a second of each. A compiler cache
# knows better.
set(PRECOMPILED <algorithm> <cmath> <filesystem> <functional> <map> <memory> <optional> <ranges>
  <sstream> <string> <vector>)
function(precompile_headers target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} ${ARGN})
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow)  # false then, as -Wrestrict
  endif()
endfunction()

# The library of a room, <room>_test and <room>_bench, from names in its folder: MODULES have .h and
# .cc, HEADERS .h alone, SOURCES .cc alone; TESTS are called <name>_test.cc, BENCHMARKS
# <name>_bench.cc.
function(add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "" "MODULES;SOURCES;HEADERS;TESTS;BENCHMARKS;LIBRARIES")
  set(headers ${A_MODULES} ${A_HEADERS})
  set(sources ${A_MODULES} ${A_SOURCES})
  list(TRANSFORM headers REPLACE "(.+)" "${room}/\\1.h")
  list(TRANSFORM sources REPLACE "(.+)" "${room}/\\1.cc")
  list(TRANSFORM A_TESTS REPLACE "(.+)" "${room}/\\1_test.cc")
  list(TRANSFORM A_BENCHMARKS REPLACE "(.+)" "${room}/\\1_bench.cc")
  add_library(${room} STATIC ${sources})
  target_sources(${room} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  set_target_properties(${room} PROPERTIES OUTPUT_NAME sextant_${room})
  target_link_libraries(${room} ${A_LIBRARIES})
  precompile_headers(${room} PRIVATE ${PRECOMPILED})
  if(A_TESTS)  # run in the root of the sources; suites named Slow* get the label `slow`
    add_executable(${room}_test ${A_TESTS})
    target_link_libraries(${room}_test ${room} rapidcheck rapidcheck_gtest GTest::gmock_main)
    precompile_headers(${room}_test PRIVATE ${PRECOMPILED} <gmock/gmock.h> <gtest/gtest.h>)
    set(how WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_MODE PRE_TEST TEST_FILTER)
    gtest_discover_tests(${room}_test ${how} -Slow*:*/Slow*)
    gtest_discover_tests(${room}_test ${how} Slow*:*/Slow* PROPERTIES LABELS slow)
  endif()
  if(A_BENCHMARKS)  # built by `cmake --build build --target benchmarks`
    add_executable(${room}_bench EXCLUDE_FROM_ALL ${A_BENCHMARKS})
    target_link_libraries(${room}_bench ${room} benchmark::benchmark_main)
    add_dependencies(benchmarks ${room}_bench)
  endif()
endfunction()

# Adds a test that runs a command in the root of the sources. What is slow begins first, so that
# nothing long is left for one core at the end.
function(add_command name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${label}")
  if(label STREQUAL slow)
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
endfunction()

# Installs targets as the package Sextant, and tests it with a project that uses it.
function(install_package)
  install(TARGETS ${ARGN} EXPORT SextantTargets
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sextant)
  set(PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)
  install(EXPORT SextantTargets NAMESPACE Sextant:: DESTINATION ${PACKAGE})
  install(FILES tools/package/SextantConfig.cmake DESTINATION ${PACKAGE})
  set(PREFIX ${PROJECT_BINARY_DIR}/consumer/prefix)
  add_command(install slow ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${PREFIX})
  add_command(consumer slow ${CMAKE_CTEST_COMMAND}
    --build-and-test ${PROJECT_SOURCE_DIR}/tools/consumer ${PROJECT_BINARY_DIR}/consumer/build
    --build-generator ${CMAKE_GENERATOR} --build-options -DCMAKE_PREFIX_PATH=${PREFIX}
    --test-command consumer)
  set_tests_properties(install PROPERTIES FIXTURES_SETUP installed)
  set_tests_properties(consumer PROPERTIES FIXTURES_REQUIRED installed)
endfunction()
