# The two extension modules: _runtime (small, loaded at import) and _compiler (links MLIR, loaded at the first compilation).
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

function(add_extension_module name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${ARGN}/*.cpp")
  nanobind_add_module(${name} NB_STATIC NOMINSIZE NB_DOMAIN pycompiler ${sources})
  target_link_libraries(${name} PRIVATE pycompiler_flags)
  set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  if(PYCOMPILER_INPLACE)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_SOURCE_DIR}/pycompiler")
  endif()
endfunction()

add_extension_module(_runtime "${CMAKE_SOURCE_DIR}/runtime/python")
# One file instead of eleven, each of which parses the same headers.
if(TARGET nanobind-static)
  set_target_properties(nanobind-static PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endif()
target_link_libraries(_runtime PRIVATE PyCompilerPjrt PyCompilerRuntime)
target_include_directories(_runtime PRIVATE "${CMAKE_SOURCE_DIR}/runtime/python")
# The raw types call Python, which may end a thread in such a call when the interpreter is ending, by pthread_exit. What
# has no exceptions is passed by then as C is; else what is destroyed on the way would need the GIL, and what is noexcept
# would abort. Gil.h says what becomes of the others.
target_compile_options(_runtime PRIVATE -fno-exceptions)
file(GLOB_RECURSE bound_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/runtime/python/*.cpp")
list(FILTER bound_sources INCLUDE REGEX "/(Compiler|ExecutableType|ForeignFunctions|Gil|Module|Notifier|ProcessFunctions|Profiling|Spmd|TensorCall)\\.cpp$")
set_source_files_properties(${bound_sources} PROPERTIES COMPILE_OPTIONS -fexceptions SKIP_PRECOMPILE_HEADERS ON)
target_precompile_headers(_runtime PRIVATE "${CMAKE_SOURCE_DIR}/runtime/python/Precompiled.h")
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set_target_properties(_runtime PROPERTIES CXX_COMPILER_LAUNCHER
                        "${CMAKE_SOURCE_DIR}/cmake/Precompile.sh;${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()
# Of `python -m pycompiler`, which loads no LLVM to say it.
set_source_files_properties("${CMAKE_SOURCE_DIR}/runtime/python/Module.cpp" PROPERTIES COMPILE_DEFINITIONS
  "PCRT_LLVM_VERSION=\"${LLVM_PACKAGE_VERSION}\"")
install(TARGETS _runtime LIBRARY DESTINATION pycompiler COMPONENT python)
# The headers of C functions that compiled code calls: pycompiler.ffi.include_dir().
install(DIRECTORY "${CMAKE_SOURCE_DIR}/third_party/xla" DESTINATION pycompiler/ffi/include COMPONENT python
        FILES_MATCHING PATTERN "*.h")

# The library that JAX loads (runtime/pjrt).
add_library(pjrt_pycompiler MODULE "${CMAKE_SOURCE_DIR}/runtime/pjrt/Plugin.cpp")
target_link_libraries(pjrt_pycompiler PRIVATE pycompiler_flags ${CMAKE_DL_LIBS})
target_include_directories(pjrt_pycompiler SYSTEM PRIVATE "${CMAKE_SOURCE_DIR}/third_party/pjrt")
target_compile_definitions(pjrt_pycompiler PRIVATE "PCRT_RUNTIME_MODULE=\"$<TARGET_FILE_NAME:_runtime>\"")
set_target_properties(pjrt_pycompiler PROPERTIES CXX_VISIBILITY_PRESET hidden)
if(PYCOMPILER_INPLACE)
  set_target_properties(pjrt_pycompiler PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_SOURCE_DIR}/pycompiler")
endif()
install(TARGETS pjrt_pycompiler LIBRARY DESTINATION pycompiler COMPONENT python)

# Kernels that are there before anything is compiled: objects in one file, which Kernels.cpp takes in as they are.
set(kernel_objects "${CMAKE_BINARY_DIR}/generated/kernels.bin")
set(kernel_rows "${CMAKE_BINARY_DIR}/generated/kernels.inc")
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/generated")
add_custom_command(OUTPUT "${kernel_objects}" "${kernel_rows}"
  COMMAND array-kernels "${kernel_objects}" "${kernel_rows}"
  DEPENDS array-kernels VERBATIM COMMENT "Compiling the kernels of the common operators")
set(kernel_source "${CMAKE_SOURCE_DIR}/runtime/python/call/Kernels.cpp")
embed_file("${kernel_source}" PCRT_KERNEL_OBJECTS "${kernel_objects}")
set_property(SOURCE "${kernel_source}" APPEND PROPERTY OBJECT_DEPENDS "${kernel_rows}")
set_property(SOURCE "${kernel_source}" APPEND PROPERTY COMPILE_DEFINITIONS "PCRT_KERNEL_ROWS=\"${kernel_rows}\"")

add_subdirectory(dialect/python)
