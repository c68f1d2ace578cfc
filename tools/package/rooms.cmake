# Functions of CMakeLists.txt.

# Precompiled headers: nearly all sources of a room include them. ccache needs -fpch-preprocess.
# Names are in < >, because CMake writes absolute paths for other names, so that a cache could not
# be shared between source folders.
set(STANDARD_HEADERS <algorithm> <cmath> <filesystem> <functional> <map> <memory> <optional> <ranges>
  <sstream> <string> <vector>)
set(PRECOMPILED -fpch-preprocess -Wno-stringop-overflow)  # gives false warnings with it
function(precompile_headers target)
  target_precompile_headers(${target} PRIVATE ${STANDARD_HEADERS} ${ARGN})
  target_compile_options(${target} PRIVATE ${PRECOMPILED})
endfunction()

# Reads the names of the operations from the list of their structs: RmsNorm becomes rms_norm.
function(list_operations result header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} lines REGEX "struct [A-Z][A-Za-z]*[,>]")
  string(REGEX MATCHALL "struct [A-Z][A-Za-z]*[,>]" structs "${lines}")
  list(TRANSFORM structs REPLACE "struct ([A-Za-z]+)." "\\1")
  list(TRANSFORM structs REPLACE "([A-Z])" "_\\1")
  list(TRANSFORM structs TOLOWER)
  list(TRANSFORM structs REPLACE "^_" "")
  set(${result} ${structs} PARENT_SCOPE)
endfunction()

# Precompiles the headers that the tests of all rooms include. Call it before add_room: CMake
# requires that the target all_tests exists before the targets that reuse it.
function(precompile_headers_of_tests)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/all_tests.cc CONTENT "")  # not rewritten if unchanged
  add_library(all_tests OBJECT ${PROJECT_BINARY_DIR}/all_tests.cc)
  target_link_libraries(all_tests ${ARGN})
  set_target_properties(all_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(all_tests PRIVATE -fPIE  # the flag that CMake uses for programs
    "$<$<CONFIG:Release>:-O1;-finline-small-functions>")
  precompile_headers(all_tests <gmock/gmock.h> <gtest/gtest.h> <rapidcheck/gtest.h>
    <reference/prove/prove.h>)
endfunction()

# Lists the files that include foreach_target.h, which compiles them once for each target of Highway.
function(list_kernels result)
  execute_process(COMMAND grep -rl --include=*.cc foreach_target.h ${ARGN} OUTPUT_VARIABLE files
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)
  string(STRIP "${files}" files)
  string(REPLACE "\n" ";" files "${files}")
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# Writes a row {operation, path} for each file of an operation: those of its name, and those in Python
# that have its name, as a function or in the table of formulas.
function(write_files_of_operations output)
  list(JOIN OPERATIONS "|" names)
  file(GLOB files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS reference/*/*.h reference/*/*.cc
    fast/*/*.h fast/*/*.cc oracle/*/*.cc fixtures/cases/*.cases fixtures/cases/real/*.cases
    fixtures/golden/*.h5)
  set(name "/(${names})(-inl|_test|_bench)?[.][a-z0-9]+$")
  list(FILTER files INCLUDE REGEX "${name}")
  list(TRANSFORM files REPLACE "^.*${name}" "{\"\\1\", \"\\0\"},\n")
  file(GLOB programs RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS fixtures/mpmath/*.py
    tools/adapters/native/*.py)
  execute_process(COMMAND grep -oE "^(def (${names})\\(|    \"(${names})\": \")" ${programs}
    OUTPUT_VARIABLE functions WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "([^\n:]+):[^\n]*[ \"](${names})[(\"][^\n]*" "{\"\\2\", \"\\1\"}," functions
    "${functions}")
  list(JOIN files "" files)
  file(CONFIGURE OUTPUT ${output} CONTENT "${files}${functions}" @ONLY)
endfunction()

# Makes batches of the sources of a target: files that include up to BATCH files of one folder. They
# are compiled together in less time, because headers are read once. Names in the unnamed namespaces
# of a folder must differ. Kernels are left out: foreach_target.h acts once in a compilation, a second
# kernel would have one target alone. Files that match one of APART are not together with others.
# (Not CMake's UNITY_BUILD: it includes absolute paths, so that clones could not share a compiler
# cache.)
function(make_batches result target)
  set(batches ${ARGN})
  list(REMOVE_ITEM ARGN ${KERNELS})
  list(REMOVE_ITEM batches ${ARGN})
  set(folders ${ARGN})
  list(TRANSFORM folders REPLACE "/[^/]*$" "")
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    foreach(apart IN LISTS APART ITEMS .)
      set(files ${ARGN})
      list(FILTER files INCLUDE REGEX "^${folder}/[^/]*$")
      list(FILTER files INCLUDE REGEX "${apart}")
      if(files)
        list(REMOVE_ITEM ARGN ${files})
        add_batches(batches ${target} ${files})
      endif()
    endforeach()
  endforeach()
  set(${result} ${batches} PARENT_SCOPE)
endfunction()

# Appends batches of equal size of these files.
function(add_batches result target)
  list(LENGTH ARGN count)
  math(EXPR parts "(${count} + ${BATCH} - 1) / ${BATCH}")
  math(EXPR size "(${count} + ${parts} - 1) / ${parts}")
  math(EXPR last "${count} - 1")
  foreach(first RANGE 0 ${last} ${size})
    list(SUBLIST ARGN ${first} ${size} batch)
    list(LENGTH batch length)
    if(length GREATER 1)
      list(GET batch 0 path)
      set(path ${PROJECT_BINARY_DIR}/batches/${target}/${path})
      list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
      list(JOIN batch "" includes)
      file(CONFIGURE OUTPUT ${path} CONTENT "${includes}${NO_KERNEL}")
      set(batch ${path})
    endif()
    list(APPEND ${result} ${batch})
  endforeach()
  set(${result} ${${result}} PARENT_SCOPE)
endfunction()
set(NO_KERNEL [[
#ifdef HIGHWAY_HWY_FOREACH_TARGET_H_
#error "a file includes foreach_target.h since CMake made this batch: run CMake again"
#endif
]])

# Links a test program. Tests ask Highway for the targets of the kernels.
function(link_test program)
  target_link_libraries(${program} ${ARGN} rapidcheck rapidcheck_gtest GTest::gmock_main)
  target_compile_definitions(${program} PRIVATE HWY_DISABLED_TARGETS=${HWY_DISABLED_TARGETS})
endfunction()

# Adds the library of a room and the programs <room>_test and <room>_bench, from the files in its
# folders: <name>_test.cc is a test, <name>_bench.cc a benchmark, main*.cc a program, example*.cc an
# example that tests build; all other files belong to the library. OPTIMIZE: compiler options of the
# library for Release. HEADERS: precompiled headers of the library. LIBRARIES: arguments of
# target_link_libraries.
function(add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "" "OPTIMIZE;HEADERS;LIBRARIES")
  file(GLOB_RECURSE sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${room}/*.cc)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${room}/*.h)
  set(tests ${sources})
  set(benchmarks ${sources})
  list(FILTER tests INCLUDE REGEX "_test[.]cc$")
  list(FILTER benchmarks INCLUDE REGEX "_bench[.]cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)[.]cc$|/(main[a-z_]*|example[a-z_]*)[.]cc$")
  list(FILTER headers EXCLUDE REGEX "_(test|bench)[.]h$|-inl[.]h$")
  if(NOT LIBRARIES_ALONE)
    make_batches(sources ${room} ${sources})
  endif()
  add_library(${room} STATIC ${sources})
  target_sources(${room} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  set_target_properties(${room} PROPERTIES OUTPUT_NAME sextant_${room})
  target_link_libraries(${room} ${A_LIBRARIES})
  target_compile_options(${room} PRIVATE "$<$<CONFIG:Release>:${A_OPTIMIZE}>")
  precompile_headers(${room} ${A_HEADERS})
  if(tests AND BUILD_TESTING)  # run in the source root; suites named Slow* get the label `slow`
    set(APART "")  # a test program needs all of its files
    make_batches(batches ${room}_test ${tests})
    add_executable(${room}_test ${batches})
    link_test(${room}_test ${room})
    target_compile_options(${room}_test PRIVATE
      "$<$<CONFIG:Release>:-O1;-finline-small-functions>")
    target_precompile_headers(${room}_test REUSE_FROM all_tests)
    target_compile_options(${room}_test PRIVATE ${PRECOMPILED})
    foreach(file IN LISTS tests)  # one program per file, built on request: <room>_<name>_test, or
      get_filename_component(name ${file} NAME_WE)
      if(TARGET ${room}_${name})  # <room>_<folder>_<name>_test where two files have one name
        get_filename_component(folder ${file} DIRECTORY)
        get_filename_component(folder ${folder} NAME)
        set(name ${folder}_${name})
      endif()
      add_executable(${room}_${name} EXCLUDE_FROM_ALL ${file})
      link_test(${room}_${name} ${room})
    endforeach()
    set(how WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_MODE PRE_TEST TEST_FILTER)
    gtest_discover_tests(${room}_test ${how} -Slow*:*/Slow*)
    gtest_discover_tests(${room}_test ${how} Slow*:*/Slow* PROPERTIES LABELS slow)
  endif()
  if(benchmarks AND BUILD_TESTING)  # built by `cmake --build build --target benchmarks`
    add_executable(${room}_bench EXCLUDE_FROM_ALL ${benchmarks})
    target_link_libraries(${room}_bench ${room} benchmark::benchmark_main)
    target_compile_options(${room}_bench PRIVATE "$<$<CONFIG:Release>:-O2>")
    add_dependencies(benchmarks ${room}_bench)
  endif()
endfunction()

# Adds the shared library libsextant.so of the folder: it exports only the functions of sextant.h, and
# needs no library whose code it does not use (HDF5).
function(add_c_library target folder)
  add_library(${target} SHARED ${folder}/sextant.cc ${folder}/sextant_ask.cc)
  set_target_properties(${target} PROPERTIES PREFIX "" SOVERSION 0 VERSION ${PROJECT_VERSION}
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/exports.map)
  target_link_libraries(${target} PRIVATE tools)
  target_link_options(${target} PRIVATE -Wl,--as-needed -Wl,--no-undefined
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/${folder}/exports.map)
endfunction()

# Makes build/python: the package `sextant`, with the adapter for subjects, and its metadata. The package
# finds the library and the program beside that folder: PYTHONPATH=build/python.
function(add_python_package from adapter)
  set(to ${PROJECT_BINARY_DIR}/python)
  file(GLOB files RELATIVE ${PROJECT_SOURCE_DIR}/${from} CONFIGURE_DEPENDS ${from}/sextant/*.py
    ${from}/sextant/py.typed)
  foreach(file IN LISTS files)
    configure_file(${from}/${file} ${to}/${file} COPYONLY)
  endforeach()
  configure_file(${adapter} ${to}/sextant/adapter.py COPYONLY)
  set(info ${to}/sextant-${PROJECT_VERSION}.dist-info)
  configure_file(${from}/package/METADATA.in ${info}/METADATA @ONLY)
  configure_file(${from}/package/entry_points.txt ${info}/entry_points.txt COPYONLY)
endfunction()

# Makes build/pages: the program that writes HTML pages, with its pictures and templates.
function(add_pages from)
  file(GLOB files CONFIGURE_DEPENDS ${from}/page ${from}/pictures.py ${from}/*.j2 ${from}/*.css
    ${from}/*.js)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    configure_file(${file} ${PROJECT_BINARY_DIR}/pages/${name} COPYONLY)
  endforeach()
endfunction()

# Adds a test that runs a command in the source root. Slow tests start first, so that no long test
# remains for one core at the end.
function(add_command name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${label}")
  if(label STREQUAL slow)
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
endfunction()

# Adds a test that runs a Python program with SEXTANT set to the path of the program `sextant`.
function(add_python_test name file)
  add_command(${name} slow ${PYTHON} -B ${file} ${ARGN})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT SEXTANT=$<TARGET_FILE:sextant>)
endfunction()

# Adds every <name>_test.py of these rooms as a test, except systems_test.py, which runs in parts
# (tests.cmake).
function(add_python_tests)
  foreach(room IN LISTS ARGN)
    file(GLOB_RECURSE files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${room}/*_test.py)
    list(FILTER files EXCLUDE REGEX systems_test)
    foreach(file IN LISTS files)
      string(REPLACE _test.py "" name ${file})
      add_python_test(${name} ${file})
    endforeach()
  endforeach()
endfunction()
