# add_array_tool(name [BUILD_ONLY] libraries...): build/bin/<name> from all .cpp files of the current directory. The wheel
# installs it as a command, unless it is BUILD_ONLY: what the build itself runs.
function(add_array_tool name)
  cmake_parse_arguments(tool "BUILD_ONLY" "" "" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${tool_UNPARSED_ARGUMENTS})
  # The shared precompiled header has libraries' code, which CMake does not generate for executables.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM array_pch)
  add_dependencies(${name} array-headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin" BUILD_RPATH "${LLVM_LIBRARY_DIR}")
  if(NOT tool_BUILD_ONLY)
    set_property(GLOBAL APPEND PROPERTY PYCOMPILER_TOOLS ${name})
  endif()
endfunction()
