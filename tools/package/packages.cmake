# What is installed, in three components: `rooms`, the libraries of the rooms for C++ programs;
# `sextant`, for everybody else, which is also the .deb; `wheel`, the Python package with all that it
# needs, for environments of Python and for machines where nothing can be installed.

set(CMAKE_FILES ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)

# Installs the libraries of rooms, and tests them with the project in consumer/.
function(install_rooms)
  install(TARGETS ${ARGN} EXPORT SextantRooms ARCHIVE COMPONENT rooms
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sextant COMPONENT rooms)
  install(EXPORT SextantRooms NAMESPACE Sextant:: DESTINATION ${CMAKE_FILES} COMPONENT rooms)
  set(PREFIX ${PROJECT_BINARY_DIR}/consumer/prefix)
  add_command(install slow sh -c [["$0" -E rm -rf "$2" && "$0" --install "$1" --prefix "$2"]]
    ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR} ${PREFIX})
  add_command(consumer slow ${CMAKE_CTEST_COMMAND}
    --build-and-test ${PROJECT_SOURCE_DIR}/tools/package/consumer ${PROJECT_BINARY_DIR}/consumer/build
    --build-generator ${CMAKE_GENERATOR} --build-options -DCMAKE_PREFIX_PATH=${PREFIX}
    --test-command consumer)
  set_tests_properties(install PROPERTIES FIXTURES_SETUP installed)
  set_tests_properties(consumer PROPERTIES FIXTURES_REQUIRED installed)
endfunction()

# Installs the program and its host of subjects in shared libraries, the C library with the headers in
# `folder`, the Python package, the cases and goldens, and the man page. cpack makes a .deb of them.
function(install_sextant program host library folder)
  set(COMPONENT COMPONENT sextant)
  install(TARGETS ${program} ${host} ${library} EXPORT SextantLibrary
    RUNTIME ${COMPONENT} LIBRARY ${COMPONENT} NAMELINK_COMPONENT sextant)
  install(EXPORT SextantLibrary NAMESPACE Sextant:: DESTINATION ${CMAKE_FILES} ${COMPONENT})
  install(FILES tools/package/SextantConfig.cmake DESTINATION ${CMAKE_FILES} ${COMPONENT})
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  file(RELATIVE_PATH PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(tools/package/sextant.pc.in sextant.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/sextant.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    ${COMPONENT})
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/sextant*.h ${folder}/sextant*.hpp)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${COMPONENT})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/pages DESTINATION ${CMAKE_INSTALL_DATADIR}/sextant
    ${COMPONENT} USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python/sextant DESTINATION lib/python3/dist-packages
    ${COMPONENT} PATTERN __pycache__ EXCLUDE)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python/sextant-${PROJECT_VERSION}.dist-info
    DESTINATION lib/python3/dist-packages ${COMPONENT})
  install(DIRECTORY fixtures/cases fixtures/golden fixtures/models
    DESTINATION ${CMAKE_INSTALL_DATADIR}/sextant ${COMPONENT})
  # The man page is made from `sextant --help`.
  find_program(HELP2MAN help2man)
  if(HELP2MAN)
    set(page ${PROJECT_BINARY_DIR}/sextant.1)
    add_custom_command(OUTPUT ${page} DEPENDS ${program} VERBATIM
      COMMAND ${HELP2MAN} --no-info --no-discard-stderr -n "verdicts on implementations of RoPE and LLaMA-style decoders"
        -o ${page} $<TARGET_FILE:${program}>)
    add_custom_target(man_page DEPENDS ${page})
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${COMPONENT} OPTIONAL)
  endif()
  set(CPACK_GENERATOR DEB)
  set(CPACK_COMPONENTS_ALL sextant)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_SEXTANT_PACKAGE_NAME sextant)
  set(CPACK_DEBIAN_SEXTANT_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION math)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_SEXTANT_PACKAGE_DEPENDS "libdlpack-dev, python3-numpy")
  set(CPACK_DEBIAN_SEXTANT_PACKAGE_RECOMMENDS "python3-jinja2, python3-matplotlib")
  set(CPACK_PACKAGE_CONTACT "the developers of Sextant")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "reference test oracle for RoPE and the components of LLaMA-style decoders")
  set(CPACK_STRIP_FILES ON)
  include(CPack)
endfunction()

# Installs what a wheel contains: the Python package with programs, their libraries, and pages. The
# libraries are those that are not on every Linux system (glibc, libstdc++ and libgcc are). In `data` is
# what goes to the prefix of an environment: cases, goldens, models, and the headers in `folder`, where
# the component `sextant` has them. The target `wheel` packs it as build/sextant-VERSION-TAG.whl.
function(install_wheel folder)
  set(COMPONENT COMPONENT wheel EXCLUDE_FROM_ALL)
  foreach(target IN LISTS ARGN)  # DT_RPATH is also searched for the libraries that libraries need
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
      INSTALL_RPATH "$ORIGIN")
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  endforeach()
  install(TARGETS ${ARGN}
    RUNTIME_DEPENDENCIES
      PRE_EXCLUDE_REGEXES [[^(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt|ld-linux.*)\.so]]
    RUNTIME DESTINATION sextant ${COMPONENT}
    LIBRARY DESTINATION sextant ${COMPONENT} NAMELINK_SKIP)
  set(name sextant-${PROJECT_VERSION})
  set(python ${PROJECT_BINARY_DIR}/python)
  install(DIRECTORY ${python}/sextant ${python}/${name}.dist-info DESTINATION . ${COMPONENT}
    PATTERN __pycache__ EXCLUDE)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/pages DESTINATION sextant ${COMPONENT}
    USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
  set(data ${name}.data/data)
  install(DIRECTORY fixtures/cases fixtures/golden fixtures/models DESTINATION ${data}/share/sextant
    ${COMPONENT})
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/sextant*.h ${folder}/sextant*.hpp)
  install(FILES ${headers} DESTINATION ${data}/include ${COMPONENT})
  find_path(DLPACK dlpack/dlpack.h REQUIRED)
  install(FILES ${DLPACK}/dlpack/dlpack.h DESTINATION ${data}/include/dlpack ${COMPONENT})
  # The licences of all that is compiled into them or bundled.
  file(STRINGS tools/setup lines REGEX "^  [a-z0-9-]+-dev |^readonly DEMO")
  foreach(line IN ITEMS zlib1g-dev libaec-dev ${lines})
    if(line MATCHES "DEMO")
      break()
    endif()
    string(REGEX MATCH "[a-z0-9-]+-dev" package ${line})
    install(FILES /usr/share/doc/${package}/copyright DESTINATION ${name}.dist-info/licenses
      RENAME ${package} ${COMPONENT})
  endforeach()
  add_custom_target(wheel VERBATIM
    COMMAND ${CMAKE_COMMAND} -E rm -rf wheel
    COMMAND ${CMAKE_COMMAND} --install . --component wheel --strip --prefix wheel
    COMMAND ${PYTHON} ${PROJECT_SOURCE_DIR}/tools/package/wheel.py wheel .)
  add_dependencies(wheel ${ARGN})
endfunction()
