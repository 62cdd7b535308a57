# Finds MLIR, and gives the dialect's targets one interface and one precompiled header.
# The version file of the package matches major.minor only, hence the ".1".
file(STRINGS "${CMAKE_SOURCE_DIR}/llvm-version.txt" PYCOMPILER_LLVM_MAJOR LIMIT_COUNT 1)
find_program(LLVM_CONFIG NAMES "llvm-config-${PYCOMPILER_LLVM_MAJOR}" REQUIRED)
execute_process(COMMAND "${LLVM_CONFIG}" --prefix OUTPUT_VARIABLE LLVM_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT MLIR_DIR)
  set(MLIR_DIR "${LLVM_PREFIX}/lib/cmake/mlir")
endif()
find_package(MLIR "${PYCOMPILER_LLVM_MAJOR}.1" REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")

if(EXISTS "${LLVM_PREFIX}/bin/ld.lld")
  add_link_options("-B${LLVM_PREFIX}/bin" -fuse-ld=lld)
endif()

# Only the shared libraries are linked (but by dialect/wheel, which links none of them): mixing in the static archives would
# give one class two TypeIDs.
add_library(pycompiler_mlir INTERFACE)
target_include_directories(pycompiler_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS}
  "${CMAKE_BINARY_DIR}/dialect/include")
target_include_directories(pycompiler_mlir INTERFACE "${CMAKE_SOURCE_DIR}/dialect/include" "${CMAKE_SOURCE_DIR}/dialect/lib"
  "${CMAKE_SOURCE_DIR}/runtime/include")
target_compile_definitions(pycompiler_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(pycompiler_mlir INTERFACE pycompiler_flags MLIR LLVM)

# Clang of LLVM's version compiles files that include MLIR in half of GCC's time and a third of its memory
# (docs/rationale/014-clang.md). All else, the runtime above all, is compiled by the project's compiler. The rules are those
# of the directory that calls this and of those below.
find_program(PYCOMPILER_CLANG NAMES "clang++-${PYCOMPILER_LLVM_MAJOR}")
macro(compile_with_clang)
  if(PYCOMPILER_CLANG AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    string(REPLACE "<CMAKE_CXX_COMPILER>" "\"${PYCOMPILER_CLANG}\"" CMAKE_CXX_COMPILE_OBJECT "${CMAKE_CXX_COMPILE_OBJECT}")
    # As CMake's Clang-CXX.cmake has them.
    set(CMAKE_PCH_EXTENSION .pch)
    set(CMAKE_PCH_PROLOGUE "#pragma clang system_header")
    set(CMAKE_CXX_COMPILE_OPTIONS_INSTANTIATE_TEMPLATES_PCH -fpch-instantiate-templates)
    set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Xclang -emit-pch -Xclang -include -Xclang <PCH_HEADER> -x c++-header)
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE> -Xclang -include -Xclang <PCH_HEADER>)
    # ccache knows a precompiled header by its contents, which a time stamp would be part of. GCC's std::stable_sort calls
    # a function that its headers call deprecated.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>"
      "$<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>")
    # Headers of MLIR are layers of small functions. To inline only those takes a third less time than -O3 (014-clang.md).
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-O1 -mllvm -inline-threshold=50>")
    endif()
  endif()
endmacro()

# add_array_library(name): all .cpp files of the current directory, with the shared precompiled header.
function(add_array_library name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC pycompiler_mlir)
  target_precompile_headers(${name} REUSE_FROM array_pch)
  add_dependencies(${name} array-headers)
  set_property(GLOBAL APPEND PROPERTY PYCOMPILER_ARRAY_LIBRARIES ${name})
endfunction()
