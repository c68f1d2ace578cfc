# The installed package: the C library Sextant::libsextant and the program Sextant::sextant. If the
# libraries of the rooms are installed: Sextant::reference, ::fast, ::fixtures, ::oracle.
include(${CMAKE_CURRENT_LIST_DIR}/SextantLibrary.cmake)
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/SextantRooms.cmake AND NOT Sextant_FIND_COMPONENTS STREQUAL library)
  include(CMakeFindDependencyMacro)
  enable_language(C)  # FindHDF5 needs it
  foreach(package Threads hwy HDF5 OpenSSL TBB rapidcheck)
    find_dependency(${package})
  endforeach()
  include(${CMAKE_CURRENT_LIST_DIR}/SextantRooms.cmake)
endif()
