# The installed package: targets Sextant::reference, ::fast, ::fixtures, ::oracle.
include(CMakeFindDependencyMacro)
enable_language(C)  # FindHDF5 needs it
foreach(package Threads hwy HDF5 OpenSSL TBB rapidcheck)
  find_dependency(${package})
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/SextantTargets.cmake)
