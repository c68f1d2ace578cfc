# What is installed, in three components: `rooms`, the libraries of the rooms for C++ programs;
# `sextant`, for everybody else, which is also the .deb; `bundle`, the C library and the Python package
# with all libraries that they need, for machines where nothing can be installed.

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

# Installs the bundle: the C library with the libraries that it needs, without those that every Linux
# system has (glibc and libstdc++), its headers, the Python package. The
# target `bundle` makes build/sextant-VERSION-PROCESSOR.tar.gz of it.
function(install_bundle library folder)
  set(COMPONENT COMPONENT bundle EXCLUDE_FROM_ALL)
  install(TARGETS ${library}
    RUNTIME_DEPENDENCIES
      PRE_EXCLUDE_REGEXES [[^(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt|ld-linux.*)\.so]]
    LIBRARY DESTINATION . ${COMPONENT} NAMELINK_COMPONENT bundle)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/sextant*.h ${folder}/sextant*.hpp)
  install(FILES ${headers} DESTINATION include ${COMPONENT})
  find_path(DLPACK dlpack/dlpack.h REQUIRED)
  install(FILES ${DLPACK}/dlpack/dlpack.h DESTINATION include/dlpack ${COMPONENT})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python/ DESTINATION python ${COMPONENT}
    PATTERN __pycache__ EXCLUDE)
  foreach(package libmpfr6 libgmp10 libtbb12 libhwy1 libdlpack-dev)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION licenses RENAME ${package}
      ${COMPONENT})
  endforeach()
  set(name sextant-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
  add_custom_target(bundle VERBATIM
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${name}
    COMMAND ${CMAKE_COMMAND} --install . --component bundle --strip --prefix ${name}
    COMMAND ${CMAKE_COMMAND} -E tar czf ${name}.tar.gz ${name})
  add_dependencies(bundle ${library})
endfunction()
