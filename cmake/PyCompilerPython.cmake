# The two extension modules: _runtime (small, loaded at import) and _compiler (links MLIR, loaded at the first compilation).
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

function(add_extension_module name)
  file(GLOB sources CONFIGURE_DEPENDS "${ARGN}/*.cpp")
  nanobind_add_module(${name} NB_STATIC NOMINSIZE NB_DOMAIN pycompiler ${sources})
  target_link_libraries(${name} PRIVATE pycompiler_flags)
  set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  if(PYCOMPILER_INPLACE)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_SOURCE_DIR}/pycompiler")
  endif()
  install(TARGETS ${name} LIBRARY DESTINATION pycompiler COMPONENT python)
endfunction()

add_extension_module(_runtime "${CMAKE_SOURCE_DIR}/runtime/python")
target_link_libraries(_runtime PRIVATE PyCompilerRuntime)

add_extension_module(_compiler "${CMAKE_SOURCE_DIR}/dialect/python")
target_link_libraries(_compiler PRIVATE ArrayTarget ArrayPipelines ArrayTransforms ArrayToLinalg ArrayDialect)
set_target_properties(_compiler PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}" BUILD_RPATH "${LLVM_LIBRARY_DIR}")
